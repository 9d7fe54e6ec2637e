// Kernels that make codes and scales of this rank's shards of main weights, many parameters a
// launch. They know nothing of ranks: between the first read of the weights and the rest somebody
// joins the maxima over all ranks, so that no bit depends on how rows are shared out.
//
//   first read   maxima of all blocks of which this rank has a part; and codes, by the recipes
//                whose scales are known without other ranks: fp8_delayed (from earlier amaxes) and
//                mxfp8 where one rank has the block
//   scales       of all blocks of the whole tensor, from joined maxima
//   second read  codes, by the other recipes
#pragma once

#include <cstdint>
#include <span>

#include "real/cuda/handles.h"
#include "real/quantise/recipe_scales.h"
#include "real/quantise/recipe_shape.h"

namespace adamant::real {

/// A parameter, of which this rank has elements [begin, begin + count), perhaps none; of nvfp4 even
/// numbers of them, of mxfp8 with scales beside codes whole rows.
///
/// Shapes: `weights` and `codes` are of this rank's elements.
///         `partial` and `joined` have maxima_count(shape) numbers: a maximum's bits as those of a
///         binary32, which grow with it. `scales` are as in QuantisedView; scale codes beside
///         codes are of this rank's blocks, others of all. Nothing is null that the recipe has.
struct QuantiseTask {
  RecipeShape shape;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  float const* weights = nullptr;
  std::uint8_t* codes = nullptr;
  std::int32_t* partial = nullptr;
  std::int32_t const* joined = nullptr;
  float* scales = nullptr;
  std::uint8_t* scale_codes = nullptr;
  DelayedScale* delayed = nullptr;      // of fp8_delayed
  std::int32_t const* apply = nullptr;  // where it is 0 on the device, all stays as it is
};

/// Raises `partial`, which was zero, to the maxima of this rank's part. NaN counts for nothing,
/// infinities do.
///
/// Stream: all on `stream`, and return before completion. Errors: CudaError.
void launch_first_read(std::span<QuantiseTask const> tasks, Stream const& stream);
/// Also moves fp8_delayed's history on, after the first read has used its scale.
void launch_scales(std::span<QuantiseTask const> tasks, Stream const& stream);
void launch_second_read(std::span<QuantiseTask const> tasks, Stream const& stream);

}  // namespace adamant::real
