// What a checkpoint has of a quantised parameter beside its fp32 values: codes, scales, and what
// its next quantisation goes by. Names and shapes only; who saves and who loads has the bytes.
//
//   recipe       /raw             /scale: what reading multiplies by    beside these
//   fp8_delayed  U8               F32 [1]                               /history F32 [16], newest
//                                                                       last, /next_scale F32 [1]
//   fp8_current  U8               F32 [1]
//   fp8_block    U8               F32 [rows / 128, columns / 128]
//   mxfp8        U8               U8 [rows, columns / 32]
//   nvfp4        U8, half the     U8 [rows / 16, columns / 16]          /amax F32 [1]
//                columns
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/quantise/recipe_shape.h"

namespace adamant::real {

enum class Beside : std::uint8_t { raw, scale, amax, history, next_scale };
inline constexpr Beside all_beside[] = {Beside::raw, Beside::scale, Beside::amax, Beside::history,
                                        Beside::next_scale};

/// The key of such a tensor.
std::string beside_key(std::string const& key, Beside what);

struct BesideTensor {
  Beside what = Beside::raw;
  NumberFormat format = NumberFormat::fp32;  // or fp8, for bytes
  std::vector<std::int64_t> shape;
  /// For how many elements of the parameter one of these stands, where every rank has those of its
  /// own elements; otherwise 0, and all ranks have all of it, of which the first saves it.
  std::int64_t elements = 0;

  std::int64_t numel() const;
  /// What stands for these elements of the parameter.
  ElementRange part_of(ElementRange own) const;
};

/// Has a part of a parameter, some rows of it, its own part of such a tensor? Codes and blocks are
/// cut with the rows where no block is cut; all else is the whole parameter's.
bool is_cut_with_rows(Recipe recipe, Beside what, std::span<std::int64_t const> part);

/// All that stand beside a parameter of this shape. REQUIRES: the recipe takes it. `whole_scales`
/// is of mxfp8: scales of the whole tensor are on all ranks, as RecipeShape says.
std::vector<BesideTensor> tensors_beside(Recipe recipe, std::span<std::int64_t const> shape,
                                         bool whole_scales);

}  // namespace adamant::real
