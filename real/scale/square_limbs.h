// Exact sums of squares of binary32 numbers, as integers: 20 limbs of 32 bits that together hold
// any multiple of 2^-298 up to 2^342, and two counters for what is no number or infinite. Integer
// addition has no order, so that any cut over threads, blocks and ranks gives the same limbs.
//
// A limb lives in 64 bits, so that 2^32 additions need no carry.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace adamant::real {

using Word = unsigned long long;  // what atomicAdd takes

inline constexpr int limb_count = 20;
inline constexpr int nan_word = limb_count;
inline constexpr int infinity_word = limb_count + 1;
inline constexpr int word_count = limb_count + 2;

inline constexpr int limb_bits = 32;
inline constexpr Word limb_mask = 0xffffffffU;
inline constexpr int square_exponent_min = -298;  // of the square of the smallest subnormal number

/// A square: parts[i] goes into limb `limb` + i. Every part is below 2^32.
struct SquareParts {
  int limb = 0;
  Word parts[3] = {};
};

/// x = significand 2^(e - 149) with e >= 0, so its square begins at bit 2 e of the limbs.
///
/// REQUIRES: x finite.
__host__ __device__ inline SquareParts square_parts(float x) {
  auto const bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t const biased = bits >> 23 & 0xffU;
  std::uint32_t const fraction = bits & 0x7fffffU;
  Word const significand = biased == 0 ? fraction : fraction | 0x800000U;
  Word const square = significand * significand;  // below 2^48
  int const begin = 2 * static_cast<int>(biased == 0 ? 0 : biased - 1);
  int const shift = begin % limb_bits;
  Word const low = square << shift;
  Word const high = (square >> limb_bits) >> (limb_bits - shift);
  return {.limb = begin / limb_bits, .parts = {low & limb_mask, low >> limb_bits, high}};
}

/// Brings every limb but the highest below 2^32 again.
__host__ __device__ inline void carry(Word* words) {
  for (int i = 0; i + 1 < limb_count; ++i) {
    words[i + 1] += words[i] >> limb_bits;
    words[i] &= limb_mask;
  }
}

/// The number that carried limbs stand for, rounded once to binary64, to nearest even.
///
/// The 64 bits from the highest one on, with the lowest of them set where anything below is not
/// zero, round as the whole does: 11 of them lie below the binary64 significand.
__host__ __device__ inline double rounded(Word const* words) {
  int top = limb_count - 1;
  while (top > 0 && words[top] == 0) --top;
  auto const limb = [&](int i) { return i < 0 ? Word{0} : words[i]; };
  Word const high = limb(top);
  if (high == 0) return 0.0;
  Word const middle = limb(top - 1) << limb_bits | limb(top - 2);
  int width = 0;  // bits of the highest limb
  while (width < 64 && high >> width != 0) ++width;
  Word window = high << (64 - width);
  if (width < 64) window |= middle >> width;
  Word below = width < 64 ? middle << (64 - width) : middle;
  for (int i = top - 3; i >= 0; --i) below |= words[i];
  if (below != 0) window |= 1U;
  return std::ldexp(static_cast<double>(window),
                    (top - 2) * limb_bits + width + square_exponent_min);
}

}  // namespace adamant::real
