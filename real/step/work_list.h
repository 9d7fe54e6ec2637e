// The fused kernel's work list: this rank's elements of all parameters, cut into pieces of which
// blocks have sections. Made once; it depends on the layout alone and covers no padding.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"
#include "real/offload/split.h"
#include "real/shard/layout.h"

namespace adamant::real {

inline constexpr std::int64_t piece_numel_max = 65'536;

/// How a piece's arrays are stored. `weight` is what the optimizer works on: the main weight, or
/// the parameter itself where there is none; then `copies` is 0, as it is where the parameter is
/// quantised after the step. Of a main weight that is kept as a remainder the rest is the
/// parameter. `gradient` is what the optimizer is handed; `cast` says that it lies among the cast
/// copies.
struct PieceFormats {
  NumberFormat weight = NumberFormat::fp32;
  NumberFormat gradient = NumberFormat::fp32;
  NumberFormat exp_avg = NumberFormat::fp32;
  NumberFormat exp_avg_sq = NumberFormat::fp32;
  NumberFormat parameter = NumberFormat::fp32;
  std::uint8_t copies = 0;    // 1: the weight is rounded to the parameter beside it
  std::uint8_t main : 4 = 0;  // 1: the weight lies among the main weights
  std::uint8_t cast : 4 = 0;
  std::uint8_t scaled = 0;  // some state has a scale: bit by bit, as the slots of scale_slots.h are
};
static_assert(sizeof(PieceFormats) == 8);

/// Is there nothing to convert, and nothing to write but weights and moments?
__host__ __device__ inline bool is_fp32(PieceFormats const& f) {
  return f.weight == NumberFormat::fp32 && f.gradient == NumberFormat::fp32 &&
         f.exp_avg == NumberFormat::fp32 && f.exp_avg_sq == NumberFormat::fp32 && f.copies == 0;
}

/// A run of elements of one parameter. Offsets are bytes of the flat buffer of each kind. Where
/// there is no main weight, `weight` is an offset among the parameters;
/// `parameter_copy` means nothing where the parameter is quantised.
struct WorkPiece {
  std::int64_t weight = 0;
  std::int64_t gradient = 0;
  std::int64_t exp_avg = 0;
  std::int64_t exp_avg_sq = 0;
  std::int64_t parameter_copy = 0;
  PieceFormats formats = {};
  std::int32_t count = 0;  // 1 … piece_numel_max
  std::int32_t parameter = 0;
};
static_assert(sizeof(WorkPiece) == 56);
static_assert(piece_numel_max % 8 == 0);  // 16 bytes of the shortest format

/// How far a launch over a list has to reach.
struct WorkListExtent {
  std::int64_t piece_count = 0;
  std::int64_t longest = 0;  // elements of the longest piece
  bool has_scales = false;   // some piece has a state with a scale
  bool is_fp32 = true;       // every piece
};
WorkListExtent extent_of(std::span<WorkPiece const> pieces);

/// Pieces of what the device steps in ascending order of offset; none for parameters of which it
/// steps no element.
std::vector<WorkPiece> make_work_list(Layout const& layout, Split const& split);

}  // namespace adamant::real
