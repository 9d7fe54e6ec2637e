// Numbers of optimizer states that are more than one stored number each: those that share a scale,
// and weights in two halves. Exact rules on single numbers; who shares what is the caller's.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "oracle/types.h"

namespace adamant::real {

/// What a number is kept as that shares a scale with others: times the scale's reciprocal.
__host__ __device__ __forceinline__ float scale_for(float amax, NumberFormat format) {
  if (amax == 0.0F) return 1.0F;
  float const scale = amax / (format == NumberFormat::fp8 ? 448.0F : 32752.0F);
  return scale < 0x1p-126F ? 0x1p-126F : scale;
}

/// A binary32 as the bits of a bfloat16 parameter and the 16 that it lacks.
struct SplitWeight {
  std::uint16_t parameter;
  std::uint16_t remainder;
};

/// The parameter is the weight to nearest, ties away from zero. A NaN is one in the parameter
/// alone, whatever it was: adding 1 to its bits could make a zero of it.
__host__ __device__ __forceinline__ SplitWeight split(float weight) {
  if (weight != weight) return {0x7fff, 0};
  std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, weight);
  std::uint32_t const low = bits & 0xffffU;
  return {static_cast<std::uint16_t>((bits >> 16) + (low >> 15)), static_cast<std::uint16_t>(low)};
}
__host__ __device__ __forceinline__ float joined(SplitWeight const& split) {
  std::uint32_t const upper = split.parameter - (std::uint32_t{split.remainder} >> 15);
  return __builtin_bit_cast(float, upper << 16 | split.remainder);
}

}  // namespace adamant::real
