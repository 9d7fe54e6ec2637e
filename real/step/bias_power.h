// The bias correction 1 - beta^t where no library's pow may be asked: on a device whose results
// must have the host's bits. It knows nothing of steps or tables.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace adamant::real {

/// A number of about 106 bits: high is the sum rounded to binary64, low what is left.
struct DoubleDouble {
  double high = 0;
  double low = 0;
};

/// a b exactly, by cutting both factors in halves (Dekker 1971). REQUIRES: |a|, |b| <= 1.
__host__ __device__ inline DoubleDouble exact_product(double a, double b) {
  constexpr double cut = 134217729.0;  // 2^27 + 1
  double const a_cut = cut * a;
  double const b_cut = cut * b;
  double const a_high = a_cut - (a_cut - a);
  double const b_high = b_cut - (b_cut - b);
  double const a_low = a - a_high;
  double const b_low = b - b_high;
  double const product = a * b;
  double const rest =
      ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return {product, rest};
}

__host__ __device__ inline DoubleDouble multiply(DoubleDouble const& a, DoubleDouble const& b) {
  DoubleDouble const main = exact_product(a.high, b.high);
  double const rest = main.low + (a.high * b.low + a.low * b.high);
  double const high = main.high + rest;
  return {high, rest - (high - main.high)};
}

/// fl32(1 - beta^step), power and difference in binary64.
///
/// Rounding: the power is computed with 40 bits to spare, so that rounding it to binary64 gives
///           what a correctly rounded pow gives. Nothing may be fused (-fmad=false,
///           -ffp-contract=off).
/// REQUIRES: 0 <= beta < 1, step >= 0.
__host__ __device__ inline float bias_correction_on_device(float beta, std::int64_t step) {
  DoubleDouble power = {1, 0};
  DoubleDouble square = {static_cast<double>(beta), 0};
  for (std::int64_t left = step; left > 0; left >>= 1) {
    if ((left & 1) != 0) power = multiply(power, square);
    square = multiply(square, square);
  }
  return static_cast<float>(1.0 - power.high);
}

}  // namespace adamant::real
