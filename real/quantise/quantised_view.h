// A quantised parameter on the device, or a part of it, to be read by kernels of a model.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "real/quantise/recipe_shape.h"
#include "real/quantise/scale_values.h"

namespace adamant::real {

/// Codes from element `begin` on, row by row, and their scales.
struct QuantisedView {
  RecipeShape shape;
  std::int64_t begin = 0;
  std::uint8_t const* codes = nullptr;
  /// What codes of the fp8 recipes are multiplied by, one of each block of the whole tensor; the
  /// tensor's amax of nvfp4; of mxfp8 null.
  float const* scales = nullptr;
  /// Of mxfp8 e8m0, from element `begin` on where they are beside the codes; of nvfp4 e4m3, of the
  /// whole tensor, as others of mxfp8; else null.
  std::uint8_t const* scale_codes = nullptr;
  DelayedScale const* delayed = nullptr;  // what fp8_delayed keeps for its next quantisation
};

/// The block whose scale is the first among the scale codes.
__host__ __device__ inline std::int64_t first_scale_code(QuantisedView const& view) {
  return has_scales_beside(view.shape) ? block_of(view.shape, view.begin) : 0;
}

/// What codes of a block are multiplied by.
__host__ __device__ inline float scale_at(QuantisedView const& view, std::int64_t block) {
  switch (view.shape.recipe) {
    case Recipe::mxfp8:
      return value_of_e8m0(view.scale_codes[block - first_scale_code(view)]);
    case Recipe::nvfp4:
      return nvfp4_back(view.scale_codes[block], nvfp4_tensor_scale(*view.scales));
    default:
      return view.scales[block];
  }
}

/// What a code is worth without its scale.
__host__ __device__ inline float code_value_at(QuantisedView const& view, std::int64_t element) {
  std::int64_t const i = element - view.begin;
  if (view.shape.recipe != Recipe::nvfp4) return value_of_e4m3(view.codes[i]);
  return value_of_e2m1(static_cast<std::uint8_t>(view.codes[i / 2] >> (i % 2 * 4) & 0xf));
}

/// An element, numbered in the whole tensor. Rounding: the product of code and scale, once.
__host__ __device__ inline float value_at(QuantisedView const& view, std::int64_t element) {
  return code_value_at(view, element) * scale_at(view, block_of(view.shape, element));
}

}  // namespace adamant::real
