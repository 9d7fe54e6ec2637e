// What elements are multiplied by on their way into codes and back, by each recipe. Every operation
// is one of binary32, rounded once, in the order in which it stands here: other orders have other
// bits.
//
// Source: TransformerEngine's recipes, with a history of 16 amaxes.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "real/quantise/scale_values.h"

namespace adamant::real {

/// What elements of one block are multiplied by before they are rounded, and after.
struct BlockScale {
  float into = 1;
  float back = 1;
  std::uint8_t code = 0;  // of `back`, where the recipe keeps one: e8m0 of mxfp8, e4m3 of nvfp4
};

/// An element's code; infinities become the largest number. NaN is 0x7f.
__host__ __device__ __forceinline__ std::uint8_t e4m3_code(float x) {
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
}

/// In the lower half of a byte. NaN is +6. As __nv_cvt_float_to_fp4, which takes a way over
/// binary64 where a GPU has no instruction for it.
///
/// Codes of magnitudes m in [2^e, 2^(e + 1)), e = 0, 1, 2, are those of multiples of 2^(e - 1), as
/// below 1 they are those of 1/2; m + 2^(e + 22) is rounded to such a multiple, ties to even ones,
/// which have even codes.
__host__ __device__ __forceinline__ std::uint8_t e2m1_code(float x) {
  constexpr std::uint32_t exponent = 0x7f800000U;
  float const below = x < 6.0F ? x : 6.0F;  // of NaN 6
  float const clamped = below > -6.0F ? below : -6.0F;
  float const magnitude = fabsf(clamped);
  float const at_least_1 = magnitude > 1.0F ? magnitude : 1.0F;
  std::uint32_t const binade = __builtin_bit_cast(std::uint32_t, at_least_1) & exponent;
  std::uint32_t const rounder = binade + (22U << 23);
  float const shifted = magnitude + __builtin_bit_cast(float, rounder);
  std::uint32_t const multiple = __builtin_bit_cast(std::uint32_t, shifted) - rounder;
  std::uint32_t const sign = __builtin_bit_cast(std::uint32_t, clamped) >> 28 & 8U;
  return static_cast<std::uint8_t>((multiple + ((binade - (127U << 23)) >> 22)) | sign);
}

__host__ __device__ __forceinline__ BlockScale fp32_scale(float scale) {
  return {.into = scale, .back = 1.0F / scale};
}

__host__ __device__ __forceinline__ BlockScale current_scale(float amax) {
  return fp32_scale(scale_to(448.0F, amax));
}

/// The power of two below it.
__host__ __device__ __forceinline__ BlockScale power_of_two_scale(float amax) {
  std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, scale_to(448.0F, amax));
  return fp32_scale(__builtin_bit_cast(float, bits & 0xff800000U));
}

__host__ __device__ __forceinline__ BlockScale mxfp8_scale(float amax) {
  constexpr float inverse = 1.0F / 448.0F;
  std::uint8_t const code = __nv_cvt_float_to_e8m0(amax * inverse, __NV_SATFINITE, cudaRoundPosInf);
  return {.into = value_of_e8m0(static_cast<std::uint8_t>(254 - code)),
          .back = value_of_e8m0(code),
          .code = code};
}

__host__ __device__ __forceinline__ BlockScale nvfp4_scale(float block_amax, float tensor_amax) {
  constexpr float sixth = 1.0F / 6.0F;
  constexpr float largest = 0x1.fffffep127F;
  float const tensor_scale = nvfp4_tensor_scale(tensor_amax);
  std::uint8_t const code = e4m3_code(block_amax * (tensor_scale * sixth));
  float const back = nvfp4_back(code, tensor_scale);
  float const into = 1.0F / back;
  return {.into = into > largest ? largest : into, .back = back, .code = code};
}

/// By what the block and the tensor have as their largest magnitudes. REQUIRES: not of fp8_delayed,
/// whose scales come from earlier ones.
__host__ __device__ __forceinline__ BlockScale block_scale(Recipe recipe, float block_amax,
                                                           float tensor_amax) {
  switch (recipe) {
    case Recipe::fp8_block:
      return power_of_two_scale(block_amax);
    case Recipe::mxfp8:
      return mxfp8_scale(block_amax);
    case Recipe::nvfp4:
      return nvfp4_scale(block_amax, tensor_amax);
    default:
      return current_scale(block_amax);
  }
}

/// One more quantisation was done, of a tensor with this amax.
__host__ __device__ inline void move_on(DelayedScale& delayed, float amax) {
  float largest = amax;
  for (int i = 1; i < amax_history; ++i) {
    float const kept = delayed.history[i];
    delayed.history[i - 1] = kept;
    largest = kept > largest ? kept : largest;
  }
  delayed.history[amax_history - 1] = amax;
  bool const finite = largest <= 0x1.fffffep127F;
  if (largest > 0.0F && finite) delayed.next = scale_to(448.0F, largest);
}

}  // namespace adamant::real
