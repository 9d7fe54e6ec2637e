// Clone of CUDA's device functions, as far as they mean the same on a CPU: rounding arithmetic,
// bit casts, cached loads, minima, atomic addition.
//
// Functions whose result the hardware only approximates (rsqrtf, __expf, ...) are not here.
// Float atomics keep subnormal numbers, where global memory of a GPU flushes them.
#pragma once

#include <bit>
#include <cstddef>

#include "vector_types.h"

extern "C" void adamant_sim_atomic(void* address, std::size_t bytes);

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

// Blocks run one after another on one thread, so that a plain addition is atomic. It is announced
// as atomic and its own two accesses are hidden, or the race checker would see them as plain.
#define ADAMANT_SIM_ATOMIC_ADD(type)                                                        \
  __attribute__((no_sanitize("thread"))) inline type atomicAdd(type* address, type value) { \
    adamant_sim_atomic(address, sizeof(type));                                              \
    type const old = *address;                                                              \
    *address = old + value;                                                                 \
    return old;                                                                             \
  }
ADAMANT_SIM_ATOMIC_ADD(int)
ADAMANT_SIM_ATOMIC_ADD(unsigned int)
ADAMANT_SIM_ATOMIC_ADD(unsigned long long)
ADAMANT_SIM_ATOMIC_ADD(float)
ADAMANT_SIM_ATOMIC_ADD(double)
#undef ADAMANT_SIM_ATOMIC_ADD
