// The step of pieces that are not fp32 throughout: a few lanes at a time are widened to fp32,
// updated and rounded to what their arrays store, each array in its own format. It knows neither
// pieces nor tables.
//
// On a GPU lanes are registers, filled and emptied by 16-byte accesses. On a CPU they are copies of
// the block's own: device memory is touched by memcpy alone, once to read and once to write, and
// memcpy is reported whoever calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "real/cuda/numbers.h"
#include "real/cuda/private_memory.h"
#include "real/step/adam_element.h"

namespace adamant::real {

#ifdef __CUDACC__
inline constexpr int lanes = 8;  // two 16-byte accesses to fp32, one to 16 bits
#else
inline constexpr int lanes = 128;  // stay in the first cache
#endif

/// The factors of a launch, read once a block. Times 1 is exact, so there is no case without.
struct Factors {
  float inverse = 1;
  float coefficient = 1;

  ADAMANT_PRIVATE_MEMORY __device__ __forceinline__ float operator()(float gradient) const {
    return (gradient * inverse) * coefficient;
  }
};

struct MixedArrays {
  Numbers weight;
  Numbers gradient;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter;
  bool copies = false;  // to `parameter`
  Factors factors;
};

/// Elements [begin, begin + count) of arrays; count is `lanes`, or less at the end of a section.
struct Lanes {
  std::int64_t begin = 0;
  int count = 0;
};

/// The same elements of all arrays in fp32.
struct Widened {
  float p[lanes];
  float g[lanes];
  float m[lanes];
  float v[lanes];
};

template <bool decoupled>
__device__ __forceinline__ void update_one(Widened& w, StepScalars const& s, int k) {
  AdamElement const e = adam_element<decoupled>(s, w.g[k], {.p = w.p[k], .m = w.m[k], .v = w.v[k]});
  w.p[k] = e.p;
  w.m[k] = e.m;
  w.v[k] = e.v;
}

#ifdef __CUDACC__

template <typename T>
__device__ void load_all(T const* from, float* to) {
  constexpr int width = 16 / sizeof(T);
  for (int k = 0; k < lanes; k += width) {
    uint4 const raw = *reinterpret_cast<uint4 const*>(from + k);
    T numbers[width];
    memcpy(numbers, &raw, sizeof raw);
    for (int j = 0; j < width; ++j) to[k + j] = widened(numbers[j]);
  }
}

template <typename T>
__device__ void store_all(float const* from, T* to) {
  constexpr int width = 16 / sizeof(T);
  for (int k = 0; k < lanes; k += width) {
    T numbers[width];
    for (int j = 0; j < width; ++j) numbers[j] = stored<T>(from[k + j]);
    uint4 raw;
    memcpy(&raw, numbers, sizeof raw);
    *reinterpret_cast<uint4*>(to + k) = raw;
  }
}

// Loops of a fixed length, also where fewer lanes count: lanes stay in registers.
__device__ inline void load(Numbers const& numbers, Lanes const& at, float* to) {
  with_type_of(numbers.format, [&]<typename T>(T*) {
    T const* const from = static_cast<T const*>(numbers.data) + at.begin;
    if (at.count == lanes) return load_all(from, to);
    for (int k = 0; k < lanes; ++k)
      if (k < at.count) to[k] = widened(from[k]);
  });
}

__device__ inline void store(float const* from, Numbers const& numbers, Lanes const& at) {
  with_type_of(numbers.format, [&]<typename T>(T*) {
    T* const to = static_cast<T*>(numbers.data) + at.begin;
    if (at.count == lanes) return store_all(from, to);
    for (int k = 0; k < lanes; ++k)
      if (k < at.count) to[k] = stored<T>(from[k]);
  });
}

template <bool decoupled>
__device__ void update_lanes(MixedArrays const& a, StepScalars const& s, Lanes const& at) {
  Widened w = {};
  load(a.weight, at, w.p);
  load(a.gradient, at, w.g);
  load(a.exp_avg, at, w.m);
  load(a.exp_avg_sq, at, w.v);
  for (int k = 0; k < lanes; ++k) w.g[k] = a.factors(w.g[k]);
  for (int k = 0; k < lanes; ++k) update_one<decoupled>(w, s, k);
  store(w.p, a.weight, at);
  store(w.m, a.exp_avg, at);
  store(w.v, a.exp_avg_sq, at);
  if (a.copies) store(w.p, a.parameter, at);
}

#else

/// Lanes of one array as they are stored, copied out of device memory.
struct Copied {
  alignas(16) std::byte bytes[lanes * sizeof(float)];
};

ADAMANT_PRIVATE_MEMORY inline void copy(Numbers const& from, Lanes const& at, Copied& to) {
  std::int64_t const size = element_bytes(from.format);
  std::memcpy(to.bytes, static_cast<std::byte const*>(from.data) + at.begin * size,
              static_cast<std::size_t>(at.count * size));
}

ADAMANT_PRIVATE_MEMORY inline void copy(Copied const& from, Numbers const& to, Lanes const& at) {
  std::int64_t const size = element_bytes(to.format);
  std::memcpy(static_cast<std::byte*>(to.data) + at.begin * size, from.bytes,
              static_cast<std::size_t>(at.count * size));
}

ADAMANT_PRIVATE_MEMORY inline void widen(Copied const& from, NumberFormat format, int count,
                                         float* to) {
  widen_block(from.bytes, format, static_cast<std::size_t>(count), to);
}

ADAMANT_PRIVATE_MEMORY inline void narrow(float const* from, NumberFormat format, int count,
                                          Copied& to) {
  narrow_block(from, format, static_cast<std::size_t>(count), to.bytes);
}

/// The copies of all arrays; `parameter` is an output alone.
struct AllCopied {
  Copied weight;
  Copied gradient;
  Copied exp_avg;
  Copied exp_avg_sq;
  Copied parameter;
};

template <bool decoupled>
ADAMANT_PRIVATE_MEMORY void update_copies(MixedArrays const& a, StepScalars const& s, int count,
                                          AllCopied& own) {
  Widened w;
  widen(own.weight, a.weight.format, count, w.p);
  widen(own.gradient, a.gradient.format, count, w.g);
  widen(own.exp_avg, a.exp_avg.format, count, w.m);
  widen(own.exp_avg_sq, a.exp_avg_sq.format, count, w.v);
  for (int k = 0; k < count; ++k) w.g[k] = a.factors(w.g[k]);
  for (int k = 0; k < count; ++k) update_one<decoupled>(w, s, k);
  narrow(w.p, a.weight.format, count, own.weight);
  narrow(w.m, a.exp_avg.format, count, own.exp_avg);
  narrow(w.v, a.exp_avg_sq.format, count, own.exp_avg_sq);
  if (a.copies) narrow(w.p, a.parameter.format, count, own.parameter);
}

template <bool decoupled>
ADAMANT_PRIVATE_MEMORY void update_lanes(MixedArrays const& a, StepScalars const& s,
                                         Lanes const& at) {
  AllCopied own;
  copy(a.weight, at, own.weight);
  copy(a.gradient, at, own.gradient);
  copy(a.exp_avg, at, own.exp_avg);
  copy(a.exp_avg_sq, at, own.exp_avg_sq);
  update_copies<decoupled>(a, s, at.count, own);
  copy(own.weight, a.weight, at);
  copy(own.exp_avg, a.exp_avg, at);
  copy(own.exp_avg_sq, a.exp_avg_sq, at);
  if (a.copies) copy(own.parameter, a.parameter, at);
}

#endif

template <bool decoupled>
ADAMANT_PRIVATE_MEMORY __device__ void update_section(MixedArrays const& a,
                                                      StepScalars const& scalars,
                                                      std::int64_t count) {
  StepScalars const s = scalars;
  std::int64_t const stride = static_cast<std::int64_t>(blockDim.x) * lanes;
  for (std::int64_t begin = threadIdx.x * std::int64_t{lanes}; begin < count; begin += stride) {
    std::int64_t const left = count - begin;
    update_lanes<decoupled>(
        a, s, {.begin = begin, .count = left < lanes ? static_cast<int>(left) : lanes});
  }
}

}  // namespace adamant::real
