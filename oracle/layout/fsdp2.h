// The fsdp2 layout: every rank owns rows of each parameter, one range of elements, and reserves as
// much for them as any other rank. It knows sizes only, no memory and no values.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::oracle {

/// One rank of a world, in a struct so that the two numbers cannot be swapped.
struct RankInWorld {
  int rank = 0;
  int world_size = 1;
};

/// The elements of c rows, as many as a rank gets before the end of the tensor is met:
/// c = ceil(rows / world_size).
std::int64_t chunk_numel(ParameterSpec const& parameter, int world_size);

/// The elements that a rank owns: rows [min(rows, rank c), min(rows, (rank + 1) c)).
///
/// Trailing ranks may own fewer rows or none; an empty shard lies at the end, [numel, numel).
/// Source: torch.chunk's rule, as DTensor's Shard(0) and FSDP2 use it.
ElementRange fsdp2_range(ParameterSpec const& parameter, RankInWorld place);

/// Elements of a parameter that a rank owns, without padding.
std::int64_t shard_numel(ParameterSpec const& parameter, RankInWorld place);

/// Bytes of storage that EVERY rank reserves for its shard in a format, also one that owns nothing:
/// a chunk, rounded up to 16 bytes, so that every shard in a flat buffer starts at such a boundary.
std::int64_t padded_bytes(ParameterSpec const& parameter, int world_size, NumberFormat format);

}  // namespace adamant::oracle
