// The fused kernel's work list: this rank's elements of all parameters, cut into pieces that one
// block updates. Made once; it depends on the layout alone and covers no padding.
#pragma once

#include <cstdint>
#include <vector>

#include "real/shard/layout.h"

namespace adamant::real {

inline constexpr std::int64_t piece_numel_max = 65'536;

/// A run of elements of one parameter. Offsets are elements of a flat buffer and multiples of 4, so
/// that a piece starts at a 16-byte boundary. Gradients have their own: they are the one tensor
/// whose storage comes and goes.
struct WorkPiece {
  std::int64_t offset = 0;
  std::int64_t gradient_offset = 0;
  std::int32_t count = 0;  // 1 … piece_numel_max
  std::int32_t parameter = 0;
};
static_assert(sizeof(WorkPiece) == 24);
static_assert(piece_numel_max % 4 == 0);

/// Pieces in ascending order of offset; none for parameters without elements on this rank.
std::vector<WorkPiece> make_work_list(Layout const& layout);

}  // namespace adamant::real
