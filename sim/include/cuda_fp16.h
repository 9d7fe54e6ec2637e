// Clone of CUDA's half precision type, as far as conversions from and to binary32 go: numbers of 16
// bits with 11 significant ones, in the words that the toolkit's header has for them.
//
// Conversions are inlined by force, so that loops over lanes stay in registers.
// Arithmetic on halves is not here, so that it fails to compile: widen, compute, round.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"

struct __half_raw {
  unsigned short x;
};

struct __half {
  __half() = default;
  __forceinline__ constexpr __half(__half_raw raw) : __x(raw.x) {}
  __forceinline__ constexpr operator __half_raw() const { return {__x}; }

 protected:
  unsigned short __x;
};
using half = __half;

__host__ __device__ __forceinline__ unsigned short __half_as_ushort(__half const value) {
  return static_cast<__half_raw>(value).x;
}

__host__ __device__ __forceinline__ __half __ushort_as_half(unsigned short const bits) {
  return __half_raw{bits};
}

// The exponents' biases differ by 112; the multiplication is exact and normalises subnormals. A NaN
// becomes the one of all ones, as the toolkit's does.
__host__ __device__ __forceinline__ float __half2float(__half const value) {
  std::uint32_t const bits = __half_as_ushort(value);
  std::uint32_t const magnitude = (bits & 0x7fffU) << 13;
  float const scaled = __builtin_bit_cast(float, magnitude) * 0x1p112F;
  std::uint32_t const wide = __builtin_bit_cast(std::uint32_t, scaled) | ((bits & 0x8000U) << 16);
  std::uint32_t const infinite = 0x7f800000U | ((bits & 0x8000U) << 16);
  std::uint32_t const number = magnitude >= 0x0f800000U ? infinite : wide;
  return __builtin_bit_cast(float, magnitude > 0x0f800000U ? 0x7fffffffU : number);
}

// To nearest, ties to even. Normal results are rounded as integers; of subnormal ones an addition
// of 2^-1, whose last bit is worth 2^-24, does the rounding. No branch, so that loops of it become
// vector code.
__host__ __device__ __forceinline__ __half __float2half_rn(float const value) {
  auto const bits = __builtin_bit_cast(std::uint32_t, value);
  std::uint32_t const magnitude = bits & 0x7fffffffU;
  std::uint32_t const sign = (bits >> 16) & 0x8000U;
  std::uint32_t const odd = (magnitude >> 13) & 1U;
  std::uint32_t const normal = (magnitude - (112U << 23) + 0xfffU + odd) >> 13;
  float const shifted = __builtin_bit_cast(float, magnitude) + 0.5F;
  std::uint32_t const subnormal = __builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000U;
  std::uint32_t result = magnitude < 0x38800000U ? subnormal : normal;
  result = magnitude >= 0x477ff000U ? 0x7c00U : result;  // 65520 and above
  result = magnitude > 0x7f800000U ? 0x7fffU : result | sign;
  return __ushort_as_half(static_cast<unsigned short>(result));
}
