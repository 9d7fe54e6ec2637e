// Squares of one thread on their way to the words of its block. Those of numbers near the largest
// one are summed in registers, as integers, by additions of fp32 that round nothing; words are only
// reached where the sums leave, or by a number that lies elsewhere. It knows neither blocks nor
// where words are.
//
//   x = (2^22 high + low) unit        |high| <= 2^22, |low| <= 2^21
//   x^2 = (2^44 high^2 + 2^23 high low + low^2) unit^2
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "real/cuda/lanes.h"
#include "real/scale/square_limbs.h"

namespace adamant::real {

__device__ __forceinline__ bool is_finite(float x) {
  return fabsf(x) < __builtin_inff();  // nor is a NaN
}

/// 2^exponent. REQUIRES: normal.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Magnitudes of 21 binades, all of which are multiples of `unit`.
///
///   [2^23 unit, 2^44 unit)
struct SquareWindow {
  static constexpr int unit_exponent_min = -149;  // from the smallest normal number on
  static constexpr int unit_exponent_max = 81;    // a number beyond 2^125 lies in no window

  int unit_exponent = 0;
  float least = 0;
  float beyond = 0;  // the first magnitude that is too large
  // A number plus one of these is rounded to a multiple of 2^22 units, or of one, and lies in the
  // same binade as the constant, or at its end: so their bits differ by how many those are.
  float high_splitter = 0;
  float low_splitter = 0;

  __device__ __forceinline__ bool has(float x) const {
    float const magnitude = fabsf(x);
    return magnitude >= least && magnitude < beyond;
  }
};

__device__ __forceinline__ SquareWindow square_window(int unit_exponent) {
  return {.unit_exponent = unit_exponent,
          .least = power_of_two(unit_exponent + 23),
          .beyond = power_of_two(unit_exponent + 44),
          .high_splitter = 1.5F * power_of_two(unit_exponent + 45),
          .low_splitter = 1.5F * power_of_two(unit_exponent + 23)};
}

/// The window with three binades above that of `largest`, as far as there is one.
///
/// REQUIRES: `largest` is finite and not negative.
__device__ __forceinline__ SquareWindow square_window_around(float largest) {
  int const exponent = static_cast<int>(__builtin_bit_cast(std::uint32_t, largest) >> 23) - 127;
  int unit_exponent = exponent - 40;
  if (unit_exponent < SquareWindow::unit_exponent_min)
    unit_exponent = SquareWindow::unit_exponent_min;
  if (unit_exponent > SquareWindow::unit_exponent_max)
    unit_exponent = SquareWindow::unit_exponent_max;
  return square_window(unit_exponent);
}

/// `Words` has add(word, part), which adds a part below 2^32 to a word.
template <typename Words>
class SquareSum {
 public:
  __device__ explicit SquareSum(Words const& words) : words_(words) {}

  /// Adds the squares of x[0], ..., x[count - 1]. `x` is spoilt.
  __device__ __forceinline__ void add(float (&x)[lanes], int count) {
    bool all = true;
    for (int k = 0; k < lanes; ++k) {
      bool const has = window_.has(x[k]);
      all = all && has;
    }
    if (!all) add_elsewhere(x, count);
    for (int k = 0; k < lanes; ++k) add_near(x[k]);
    if (++held_ == held_max) flush();
  }

  /// To the words, with all that was added.
  __device__ __forceinline__ void flush() {
    Wide total = wide(low_low_) + (wide(high_low_) << 23) + (wide(high_high_) << 44);
    int const begin = 2 * window_.unit_exponent - square_exponent_min;
    Word carried = 0;
    for (int i = 0; i < flushed_words; ++i) {
      Word const part = ((static_cast<Word>(total) & limb_mask) << begin % limb_bits) + carried;
      add_part(begin / limb_bits + i, part & limb_mask);
      carried = part >> limb_bits;
      total >>= limb_bits;
    }
    low_low_ = high_low_ = high_high_ = 0;
    held_ = 0;
  }

 private:
  // 2^15 times 8 squares of at most 2^44 each: no sum exceeds 2^62, and all together 2^107, which
  // are five words wherever they begin.
  static constexpr int held_max = 1 << 15;
  static constexpr int flushed_words = 5;

  static __device__ __forceinline__ Wide wide(std::int64_t sum) {
    return static_cast<Wide>(sum);  // modulo 2^128
  }

  /// REQUIRES: x is 0 or in the window.
  __device__ __forceinline__ void add_near(float x) {
    float const shifted = x + window_.high_splitter;
    float const rest = x - (shifted - window_.high_splitter);
    std::int64_t const high = steps(shifted, window_.high_splitter);
    std::int64_t const low = steps(rest + window_.low_splitter, window_.low_splitter);
    high_high_ += high * high;
    high_low_ += high * low;
    low_low_ += low * low;
  }

  static __device__ __forceinline__ std::int32_t steps(float x, float from) {
    return __builtin_bit_cast(std::int32_t, x) - __builtin_bit_cast(std::int32_t, from);
  }

  /// Adds what lies outside of the window by itself and leaves zeros in its place. Before, where
  /// that is more than lies inside, the window moves to the largest number.
  __device__ __forceinline__ void add_elsewhere(float (&x)[lanes], int count) {
    float largest = 0;
    int outside_over_inside = 0;
    for (int k = 0; k < lanes; ++k) {
      if (k >= count) x[k] = 0;
      float const finite = is_finite(x[k]) ? fabsf(x[k]) : 0;
      largest = finite > largest ? finite : largest;
      outside_over_inside += window_.has(x[k]) ? -1 : finite > 0 ? 1 : 0;
    }
    if (outside_over_inside > 0) move_to(largest);
    for (int k = 0; k < lanes; ++k) {
      if (window_.has(x[k])) continue;
      add_alone(x[k]);
      x[k] = 0;
    }
  }

  __device__ __forceinline__ void move_to(float largest) {
    SquareWindow const around = square_window_around(largest);
    if (!around.has(largest)) return;
    flush();
    window_ = around;
  }

  __device__ __forceinline__ void add_alone(float x) {
    if (x == 0) return;
    if (!is_finite(x)) return words_.add(x != x ? nan_word : infinity_word, 1);
    SquareParts const square = square_parts(x);
    for (int i = 0; i < 3; ++i) add_part(square.limb + i, square.parts[i]);
  }

  __device__ __forceinline__ void add_part(int word, Word part) {
    if (part != 0) words_.add(word, static_cast<std::uint32_t>(part));
  }

  Words words_;
  SquareWindow window_ = square_window(0);
  std::int64_t high_high_ = 0;
  std::int64_t high_low_ = 0;
  std::int64_t low_low_ = 0;
  int held_ = 0;
};

}  // namespace adamant::real
