// Clone of CUDA's device functions, as far as they mean the same on a CPU: rounding arithmetic,
// bit casts, cached loads, minima, atomic addition
// and maximum.
//
// Functions whose result the hardware only approximates (rsqrtf, __expf, ...) are not here.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>

#include "vector_types.h"

// Each rounds once; the build forbids contraction.
inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fsub_rn(float x, float y) {
  return x - y;
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fdiv_rn(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0F / x;
}
inline float __fsqrt_rn(float x) {
  return __builtin_sqrtf(x);
}
inline float __fmaf_rn(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
inline double __dadd_rn(double x, double y) {
  return x + y;
}
inline double __dsub_rn(double x, double y) {
  return x - y;
}
inline double __dmul_rn(double x, double y) {
  return x * y;
}
inline double __ddiv_rn(double x, double y) {
  return x / y;
}
inline double __dsqrt_rn(double x) {
  return __builtin_sqrt(x);
}

inline unsigned int __float_as_uint(float x) {
  return std::bit_cast<unsigned int>(x);
}
inline float __uint_as_float(unsigned int x) {
  return std::bit_cast<float>(x);
}
inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

template <typename T>
T __ldg(T const* address) {
  return *address;
}

#define ADAMANT_SIM_MINIMA(type)    \
  inline type min(type x, type y) { \
    return y < x ? y : x;           \
  }                                 \
  inline type max(type x, type y) { \
    return x < y ? y : x;           \
  }
ADAMANT_SIM_MINIMA(int)
ADAMANT_SIM_MINIMA(unsigned int)
ADAMANT_SIM_MINIMA(long)
ADAMANT_SIM_MINIMA(unsigned long)
ADAMANT_SIM_MINIMA(long long)
ADAMANT_SIM_MINIMA(unsigned long long)
#undef ADAMANT_SIM_MINIMA
inline float min(float x, float y) {
  return __builtin_fminf(x, y);
}
inline float max(float x, float y) {
  return __builtin_fmaxf(x, y);
}
inline double min(double x, double y) {
  return __builtin_fmin(x, y);
}
inline double max(double x, double y) {
  return __builtin_fmax(x, y);
}

// Atomics of the language, which the instrumentation reports as such.
inline int atomicAdd(int* address, int value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline unsigned int atomicAdd(unsigned int* address, unsigned int value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
/// As a GPU's memory adds: subnormal numbers count as zeros, before and after.
inline float atomicAdd(float* address, float value) {
  auto const flushed = [](float x) {
    return __builtin_fabsf(x) < __FLT_MIN__ ? __builtin_copysignf(0.0F, x) : x;
  };
  std::atomic_ref<float> const there(*address);
  float before = there.load(std::memory_order_relaxed);
  while (!there.compare_exchange_weak(before, flushed(flushed(before) + flushed(value)),
                                      std::memory_order_relaxed)) {
  }
  return before;
}
inline double atomicAdd(double* address, double value) {
  return std::atomic_ref<double>(*address).fetch_add(value, std::memory_order_relaxed);
}

/// The language has no atomic maximum before C++26. Stores nothing where no larger value is
/// brought.
template <typename T>
T adamant_sim_atomic_max(T* address, T value) {
  T found = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (found < value && !__atomic_compare_exchange_n(address, &found, value, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return found;
}
inline int atomicMax(int* address, int value) {
  return adamant_sim_atomic_max(address, value);
}
inline unsigned int atomicMax(unsigned int* address, unsigned int value) {
  return adamant_sim_atomic_max(address, value);
}
