// Clone of CUDA's bfloat16 type, as far as conversions from and to binary32 go: the upper half of a
// binary32, in the words that the toolkit's header has for it.
//
// Conversions are inlined by force, so that loops over lanes stay in registers.
// Arithmetic on bfloat16 is not here, so that it fails to compile: widen, compute, round.
#pragma once

#include <cstdint>

#include "cuda_runtime.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};

struct __nv_bfloat16 {
  __nv_bfloat16() = default;
  __forceinline__ constexpr __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
  __forceinline__ constexpr operator __nv_bfloat16_raw() const { return {__x}; }

 protected:
  unsigned short __x;
};
using nv_bfloat16 = __nv_bfloat16;

__host__ __device__ __forceinline__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 const value) {
  return static_cast<__nv_bfloat16_raw>(value).x;
}

__host__ __device__ __forceinline__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short const bits) {
  return __nv_bfloat16_raw{bits};
}

__host__ __device__ __forceinline__ float __bfloat162float(__nv_bfloat16 const value) {
  return __builtin_bit_cast(float, std::uint32_t{__bfloat16_as_ushort(value)} << 16);
}

// To nearest, ties to even; every NaN becomes 0x7fff. No branch, so that loops become vector code.
__host__ __device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float const value) {
  auto const bits = __builtin_bit_cast(std::uint32_t, value);
  std::uint32_t const rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  bool const is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return __ushort_as_bfloat16(static_cast<unsigned short>(is_nan ? 0x7fffU : rounded));
}
