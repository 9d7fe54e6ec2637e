// Numbers as tensors store them: a C++ type for each format, and the way from it to fp32, in which
// everything is computed, and back. One rounding, to nearest even, wherever a number is stored.
// A remainder is no number by itself: where a weight is kept as one, whoever reads it has the
// parameter at hand and joins the two.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

/// E4M3, which has no infinity: what one becomes is NaN.
struct Fp8 {
  __nv_fp8_storage_t bits;
};

__host__ __device__ __forceinline__ float widened(float x) {
  return x;
}
__host__ __device__ __forceinline__ float widened(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__host__ __device__ __forceinline__ float widened(__half x) {
  return __half2float(x);
}
__host__ __device__ __forceinline__ float widened(Fp8 x) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(x.bits, __NV_E4M3)));
}

/// `x` rounded to the type T, which stores a number.
template <typename T>
__host__ __device__ __forceinline__ T stored(float x);
template <>
__host__ __device__ __forceinline__ float stored<float>(float x) {
  return x;
}
template <>
__host__ __device__ __forceinline__ __nv_bfloat16 stored<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__host__ __device__ __forceinline__ __half stored<__half>(float x) {
  return __float2half_rn(x);
}
// NaN beyond 464, the middle between the largest number, 448, and what would come next; 464 itself
// goes to the even one, 448. GPUs have one instruction for the conversion that saturates and none
// for the other.
template <>
__host__ __device__ __forceinline__ Fp8 stored<Fp8>(float x) {
  unsigned const number = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
  unsigned const beyond = __builtin_fabsf(x) > 464.0F ? 0x7fU : 0U;
  return {static_cast<__nv_fp8_storage_t>(number | beyond)};
}

/// Calls `visit` with a null pointer to the type that stores numbers of `format`; not at all for
/// remainders.
template <typename Visit>
__host__ __device__ inline void with_type_of(NumberFormat format, Visit visit) {
  switch (format) {
    case NumberFormat::fp32:
      return visit(static_cast<float*>(nullptr));
    case NumberFormat::bf16:
      return visit(static_cast<__nv_bfloat16*>(nullptr));
    case NumberFormat::fp16:
      return visit(static_cast<__half*>(nullptr));
    case NumberFormat::fp8:
      return visit(static_cast<Fp8*>(nullptr));
    case NumberFormat::remainder:
      return;
  }
}

/// bytes_of() where nvcc, which knows no constexpr function without its word, can call it.
__host__ __device__ inline std::int64_t element_bytes(NumberFormat format) {
  if (format == NumberFormat::fp32) return 4;
  return format == NumberFormat::fp8 ? 1 : 2;
}

/// An array on the device whose format is known when the kernel runs.
struct Numbers {
  void* data = nullptr;
  NumberFormat format = NumberFormat::fp32;
  std::uint8_t unused[7] = {};  // no padding: see launch()
};

__device__ inline float number_at(Numbers const& numbers, std::int64_t i) {
  float value = 0;
  with_type_of(numbers.format,
               [&]<typename T>(T*) { value = widened(static_cast<T const*>(numbers.data)[i]); });
  return value;
}

__device__ inline void store_number(Numbers const& numbers, std::int64_t i, float value) {
  with_type_of(numbers.format,
               [&]<typename T>(T*) { static_cast<T*>(numbers.data)[i] = stored<T>(value); });
}

/// `x` as `format` can hold it.
__device__ inline float rounded(float x, NumberFormat format) {
  with_type_of(format, [&]<typename T>(T*) { x = widened(stored<T>(x)); });
  return x;
}

// The rest is for the host. REQUIRES: no remainders, unless said.

/// `values` as bytes of `format`, each divided by the scale (times its reciprocal) and rounded
/// once; of a remainder, what split() takes from the values, without a scale.
std::vector<std::byte> encoded(std::span<float const> values, NumberFormat format, float scale = 1);

/// Numbers that are stored in `format`, each times the scale.
std::vector<float> decoded(std::span<std::byte const> bytes, NumberFormat format, float scale = 1);

/// `values` as `format` can hold them without a scale.
std::vector<float> rounded(std::span<float const> values, NumberFormat format);

/// The largest finite magnitude; 0 where there is none.
float amax_of(std::span<float const> values);

/// Any NaN is the same, zeros of two signs are not.
bool same_number(float a, float b);

}  // namespace adamant::real
