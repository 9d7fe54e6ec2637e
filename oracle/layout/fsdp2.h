// The rule of the fsdp2 layout: rows are given out in chunks of one size, so that trailing parts
// are short or empty. It knows numbers of rows only, no parameters and no values.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::oracle {

/// One of several parts, in a struct so that the two numbers cannot be swapped.
struct Part {
  int index = 0;  // from 0
  int count = 1;
};

/// Rows that a part gets before the end is met: c = ceil(rows / count).
std::int64_t chunk_rows(std::int64_t rows, int count);

/// The rows of a part: [min(rows, index c), min(rows, (index + 1) c)).
///
/// Trailing parts may have fewer rows or none; an empty one lies at the end, [rows, rows).
/// Source: torch.chunk's rule, as DTensor's Shard(0) and FSDP2 use it.
ElementRange rows_of(std::int64_t rows, Part part);

}  // namespace adamant::oracle
