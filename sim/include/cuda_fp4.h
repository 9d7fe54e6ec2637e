// Clone of CUDA's 4-bit numbers, e2m1, as far as conversions from and to wider ones go. A code
// stands in the lower half of a byte.
#pragma once

#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

// Saturates; NaN, which e2m1 has not, becomes +6. Other roundings are not here.
__host__ __device__ __forceinline__ __nv_fp4_storage_t
__nv_cvt_float_to_fp4(float const x, __nv_fp4_interpretation_t, enum cudaRoundMode const rounding) {
  if (rounding != cudaRoundNearest) __builtin_trap();
  std::uint32_t const nearest = adamant_sim_nearest_code<1, 1>(x);
  std::uint32_t const number = nearest > 7U ? 7U : nearest;
  return static_cast<__nv_fp4_storage_t>((x != x ? 7U : number) | adamant_sim_sign(x) >> 4);
}

__host__ __device__ __forceinline__ __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t const x,
                                                                       __nv_fp4_interpretation_t) {
  std::uint32_t const code = x;
  float const value = __builtin_bit_cast(float, (code & 7U) << 22) * 0x1p126F;
  std::uint32_t const bits = __half_as_ushort(__float2half_rn(value)) | (code & 8U) << 12;
  return {static_cast<unsigned short>(bits)};
}
