// A few consecutive numbers of an array, widened to fp32 in registers and rounded on their way
// back: how a kernel goes through arrays whose formats it learns when it runs. Whole runs of lanes
// go by accesses of 16 bytes where the array lies so; what is left at an end, and arrays that begin
// in between, go number by number.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "real/cuda/grid.h"
#include "real/cuda/numbers.h"
#include "real/cuda/reported.h"

namespace adamant::real {

inline constexpr int lanes = 8;  // two 16-byte accesses to fp32, one to 16 bits, half to 8

/// Elements [begin, begin + count) of arrays; count is `lanes`, or less at an end.
struct Lanes {
  std::int64_t begin = 0;
  int count = 0;
};

/// What one access to numbers of one type takes: 16 bytes, or 8 of 8-bit ones.
template <typename T>
inline constexpr int access_bytes = sizeof(T) == 1 ? 8 : 16;

/// So many bytes of numbers, in registers.
template <typename T>
struct alignas(access_bytes<T>) Packed {
  static constexpr int count = access_bytes<T> / sizeof(T);
  T at[count];
};

// That is one access. Of a structure g++ makes accesses to its members, each of which would be
// reported by itself; so where they are reported, the bytes travel as one number.
__extension__ using Wide = unsigned __int128;
template <typename T>
using OneNumber = std::conditional_t<access_bytes<T> == 16, Wide, std::uint64_t>;

/// Does an array lie so that numbers can go by whole accesses?
template <typename T>
__device__ __forceinline__ bool is_packed(T const* at) {
  return reinterpret_cast<std::uintptr_t>(at) % access_bytes<T> == 0;
}

/// REQUIRES: is_packed(from).
template <typename T>
__device__ __forceinline__ Packed<T> load_packed(T const* from) {
  if constexpr (accesses_are_reported)
    return __builtin_bit_cast(Packed<T>, *reinterpret_cast<OneNumber<T> const*>(from));
  else
    return *reinterpret_cast<Packed<T> const*>(from);
}

/// REQUIRES: is_packed(to).
template <typename T>
__device__ __forceinline__ void store_packed(Packed<T> const& numbers, T* to) {
  if constexpr (accesses_are_reported)
    *reinterpret_cast<OneNumber<T>*>(to) = __builtin_bit_cast(OneNumber<T>, numbers);
  else
    *reinterpret_cast<Packed<T>*>(to) = numbers;
}

// Loops over lanes are of a fixed length, also where fewer count: lanes stay in registers.

template <typename T>
__device__ __forceinline__ void load_as(T const* from, int count, float* to) {
  if (count < lanes || !is_packed(from)) {
    for (int k = 0; k < lanes; ++k)
      if (k < count) to[k] = widened(from[k]);
    return;
  }
  for (int k = 0; k < lanes; k += Packed<T>::count) {
    Packed<T> const numbers = load_packed(from + k);
    for (int j = 0; j < Packed<T>::count; ++j) to[k + j] = widened(numbers.at[j]);
  }
}

template <typename T>
__device__ __forceinline__ void store_as(float const* from, int count, T* to) {
  if (count < lanes || !is_packed(to)) {
    for (int k = 0; k < lanes; ++k)
      if (k < count) to[k] = stored<T>(from[k]);
    return;
  }
  for (int k = 0; k < lanes; k += Packed<T>::count) {
    Packed<T> numbers;
    for (int j = 0; j < Packed<T>::count; ++j) numbers.at[j] = stored<T>(from[k + j]);
    store_packed(numbers, to + k);
  }
}

/// Lanes beyond `at.count` stay as they are.
__device__ __forceinline__ void load(Numbers const& numbers, Lanes const& at, float* to) {
  switch (numbers.format) {
    case NumberFormat::fp32:
      return load_as(static_cast<float const*>(numbers.data) + at.begin, at.count, to);
    case NumberFormat::bf16:
      return load_as(static_cast<__nv_bfloat16 const*>(numbers.data) + at.begin, at.count, to);
    case NumberFormat::fp16:
      return load_as(static_cast<__half const*>(numbers.data) + at.begin, at.count, to);
    case NumberFormat::fp8:
      return load_as(static_cast<Fp8 const*>(numbers.data) + at.begin, at.count, to);
    case NumberFormat::remainder:
      return;
  }
}

/// Rounds once.
__device__ __forceinline__ void store(float const* from, Numbers const& numbers, Lanes const& at) {
  switch (numbers.format) {
    case NumberFormat::fp32:
      return store_as(from, at.count, static_cast<float*>(numbers.data) + at.begin);
    case NumberFormat::bf16:
      return store_as(from, at.count, static_cast<__nv_bfloat16*>(numbers.data) + at.begin);
    case NumberFormat::fp16:
      return store_as(from, at.count, static_cast<__half*>(numbers.data) + at.begin);
    case NumberFormat::fp8:
      return store_as(from, at.count, static_cast<Fp8*>(numbers.data) + at.begin);
    case NumberFormat::remainder:
      return;
  }
}

// ---- shares -------------------------------------------------------------------------------------

/// Calls `visit(at)` for the lanes of [0, count) whose turn it is on this thread of a block.
template <typename Visit>
__device__ __forceinline__ void for_each_lanes(int count, Visit visit) {
  int const stride = static_cast<int>(blockDim.x) * lanes;
  for (int begin = static_cast<int>(threadIdx.x) * lanes; begin < count; begin += stride) {
    int const left = count - begin;
    visit(Lanes{.begin = begin, .count = left < lanes ? left : lanes});
  }
}

/// Calls `visit(at)` for the lanes of [0, numel), each once over all threads of the grid's x
/// dimension.
template <typename Visit>
__device__ __forceinline__ void for_each_lanes_in_grid(std::int64_t numel, Visit visit) {
  for_each_in_grid((numel + lanes - 1) / lanes, [&](std::int64_t run) {
    std::int64_t const begin = run * lanes;
    std::int64_t const left = numel - begin;
    visit(Lanes{.begin = begin, .count = left < lanes ? static_cast<int>(left) : lanes});
  });
}

}  // namespace adamant::real
