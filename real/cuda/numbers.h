// Numbers as tensors store them: a C++ type for each format, and the way from it to fp32, in which
// everything is computed, and back. One rounding, to nearest even, wherever a number is stored.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

__host__ __device__ __forceinline__ float widened(float x) {
  return x;
}
__host__ __device__ __forceinline__ float widened(__nv_bfloat16 x) {
  return __bfloat162float(x);
}
__host__ __device__ __forceinline__ float widened(__half x) {
  return __half2float(x);
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

/// Calls `visit` with a null pointer to the type that stores numbers of `format`.
template <typename Visit>
__device__ inline void with_type_of(NumberFormat format, Visit visit) {
  switch (format) {
    case NumberFormat::fp32:
      return visit(static_cast<float*>(nullptr));
    case NumberFormat::bf16:
      return visit(static_cast<__nv_bfloat16*>(nullptr));
    case NumberFormat::fp16:
      return visit(static_cast<__half*>(nullptr));
  }
}

/// bytes_of() where nvcc, which knows no constexpr function without its word, can call it.
__host__ __device__ inline std::int64_t element_bytes(NumberFormat format) {
  return format == NumberFormat::fp32 ? 4 : 2;
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

/// `values` as bytes of `format`, each rounded once. On the host.
std::vector<std::byte> encoded(std::span<float const> values, NumberFormat format);

/// Numbers that are stored in `format`. On the host.
std::vector<float> decoded(std::span<std::byte const> bytes, NumberFormat format);

/// `values` as `format` can hold them. On the host.
std::vector<float> rounded(std::span<float const> values, NumberFormat format);

}  // namespace adamant::real
