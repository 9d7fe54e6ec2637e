// Clone of CUDA's 8-bit numbers, as far as conversions from and to wider ones go: e4m3 and e5m2 to
// nearest, ties to even, and e8m0, the powers of two of block scales, away from zero.
//
// Conversions are inlined by force and have no branch, so that loops over lanes become vector code.
#pragma once

#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

typedef unsigned char __nv_fp8_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

/// The code of |x| in a format of so many bits; codes above the largest number's are for what is
/// beyond it. Normal results are rounded as integers; of subnormal ones an addition does the
/// rounding, of a power of two whose last bit is worth the smallest number.
template <int bias, int fraction_bits>
__host__ __device__ __forceinline__ std::uint32_t adamant_sim_nearest_code(float const x) {
  constexpr int shift = 23 - fraction_bits;
  constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(128 - bias) << 23;
  constexpr std::uint32_t adder = static_cast<std::uint32_t>(151 - bias - fraction_bits) << 23;
  std::uint32_t const magnitude = __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffU;
  std::uint32_t const odd = (magnitude >> shift) & 1U;
  std::uint32_t const rounded = (magnitude + (1U << (shift - 1)) - 1 + odd) >> shift;
  std::uint32_t const normal = rounded - (static_cast<std::uint32_t>(127 - bias) << fraction_bits);
  float const shifted = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, adder);
  std::uint32_t const subnormal = __builtin_bit_cast(std::uint32_t, shifted) - adder;
  return magnitude < smallest_normal ? subnormal : normal;
}

/// 0x80 for negative numbers; NaN has no sign.
__host__ __device__ __forceinline__ std::uint32_t adamant_sim_sign(float const x) {
  return x != x ? 0U : (__builtin_bit_cast(std::uint32_t, x) >> 24) & 0x80U;
}

// e4m3 has NaN for what does not saturate, e5m2 an infinity.
__host__ __device__ __forceinline__ __nv_fp8_storage_t __nv_cvt_float_to_fp8(
    float const x, __nv_saturation_t const saturate, __nv_fp8_interpretation_t const kind) {
  bool const e4m3 = kind == __NV_E4M3;
  std::uint32_t const largest = e4m3 ? 0x7eU : 0x7bU;
  std::uint32_t const nearest =
      e4m3 ? adamant_sim_nearest_code<7, 3>(x) : adamant_sim_nearest_code<15, 2>(x);
  std::uint32_t const beyond = saturate == __NV_SATFINITE ? largest : largest + 1;
  std::uint32_t const number = nearest > largest ? beyond : nearest;
  return static_cast<__nv_fp8_storage_t>((x != x ? 0x7fU : number) | adamant_sim_sign(x));
}

// The exponents' biases of e4m3 and binary32 differ by 120; the multiplication is exact. e5m2 is
// the upper half of a binary16.
__host__ __device__ __forceinline__ __half_raw
__nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t const x, __nv_fp8_interpretation_t const kind) {
  std::uint32_t const code = x;
  std::uint32_t const magnitude = code & 0x7fU;
  std::uint32_t const sign = (code & 0x80U) << 8;
  float const value = __builtin_bit_cast(float, magnitude << 20) * 0x1p120F;
  std::uint32_t const e4m3 = __half_as_ushort(__float2half_rn(value)) | sign;
  std::uint32_t const number = kind == __NV_E4M3 ? e4m3 : code << 8;
  std::uint32_t const first_nan = kind == __NV_E4M3 ? 0x7fU : 0x7dU;
  return {static_cast<unsigned short>(magnitude >= first_nan ? 0x7fffU : number)};
}

// The powers of two that are not below |x|; that alone is what scales are made with.
__host__ __device__ __forceinline__ __nv_fp8_storage_t __nv_cvt_float_to_e8m0(
    float const x, __nv_saturation_t const saturate, enum cudaRoundMode const rounding) {
  if (saturate != __NV_SATFINITE || rounding != cudaRoundPosInf) __builtin_trap();
  std::uint32_t const magnitude = __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffU;
  std::uint32_t const whole = magnitude < 0x00800000U ? 0x00400000U : 0U;  // 2^-127 is subnormal
  std::uint32_t const above = (magnitude & 0x007fffffU) > whole ? 1U : 0U;
  std::uint32_t const code = (magnitude >> 23) + above;
  std::uint32_t const number = code > 0xfeU ? 0xfeU : code;
  return static_cast<__nv_fp8_storage_t>(x != x ? 0xffU : number);
}

__host__ __device__ __forceinline__ __nv_bfloat16_raw
__nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t const x) {
  std::uint32_t const number = x == 0 ? 0x0040U : std::uint32_t{x} << 7;
  return {static_cast<unsigned short>(x == 0xff ? 0x7fffU : number)};
}
