// The fsdp2 layout: which rows of a parameter each rank owns, and how many bytes it reserves for
// them. It knows sizes only, no memory and no values.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::oracle {

/// One rank of a world, in a struct so that the two numbers cannot be swapped.
struct Place {
  int rank = 0;
  int world_size = 1;
};

/// A half-open range of rows.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t count() const { return end - begin; }
  friend bool operator==(RowRange const&, RowRange const&) = default;
};

/// Rows per rank before the end of the tensor is met: c = ceil(rows / world_size).
std::int64_t chunk_rows(std::int64_t rows, int world_size);

/// The rows that a rank owns: [min(rows, rank c), min(rows, (rank + 1) c)).
///
/// Trailing ranks may own fewer rows or none; an empty shard lies at the end, [rows, rows).
/// Source: torch.chunk's rule, as DTensor's Shard(0) and FSDP2 use it.
RowRange shard_rows(std::int64_t rows, Place place);

/// Elements of a parameter that a rank owns, without padding.
std::int64_t shard_numel(ParameterSpec const& parameter, Place place);

/// Bytes of storage that EVERY rank reserves for its shard in a format, also one that owns no row:
/// c rows, rounded up to 16 bytes, so that every shard in a flat buffer starts at such a boundary.
std::int64_t padded_bytes(ParameterSpec const& parameter, int world_size, NumberFormat format);

}  // namespace adamant::oracle
