// How a binary32 becomes a number of fewer bits, and back, by integer arithmetic: what the formats
// of this folder have in common. They differ in their widths and in what their last codes mean.
#pragma once

#include <bit>
#include <cstdint>

namespace adamant::oracle {

/// A format of one sign bit, exponent_bits and fraction_bits, IEEE 754's way.
struct FormatShape {
  int exponent_bits = 0;
  int fraction_bits = 0;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The exponent of the smallest normal number.
  constexpr int exponent_min() const { return 1 - bias(); }
  /// The magnitude with the highest exponent and no fraction: an infinity, where there is one.
  constexpr std::uint32_t infinity() const { return ((1U << exponent_bits) - 1) << fraction_bits; }
};

namespace fp32 {
inline constexpr std::uint32_t sign_bit = 0x80000000U;
inline constexpr std::uint32_t infinity_bits = 0x7f800000U;
inline constexpr std::uint32_t hidden_bit = 0x00800000U;
inline constexpr int fraction_bits = 23;
inline constexpr int exponent_min = -126;
inline constexpr int bias = 127;
}  // namespace fp32

/// A magnitude as an integer of 24 bits at most, times 2^(exponent - 23).
struct Magnitude {
  std::uint32_t significand = 0;
  int exponent = 0;
};

/// REQUIRES: the bits of a finite number that is not negative.
inline Magnitude taken_apart(std::uint32_t bits) {
  std::uint32_t const fraction = bits & (fp32::hidden_bit - 1);
  int const biased = static_cast<int>(bits >> fp32::fraction_bits);
  if (biased == 0) return {fraction, fp32::exponent_min};
  return {fraction | fp32::hidden_bit, biased - fp32::bias};
}

/// `significand` / 2^shift, to nearest, ties to even. REQUIRES: 1 <= shift.
inline std::uint32_t shifted_to_nearest(std::uint32_t significand, int shift) {
  if (shift > 24) return 0;  // less than half of the last bit
  std::uint32_t const kept = significand >> shift;
  std::uint32_t const rest = significand & ((1U << shift) - 1);
  std::uint32_t const half = 1U << (shift - 1);
  bool const up = rest > half || (rest == half && (kept & 1U) != 0);
  return kept + (up ? 1U : 0U);
}

/// The code of the nearest number, ties to even, as if exponents had no end upwards: at most
/// 2^(9 + fraction_bits).
///
/// A normal result is its fraction with the hidden bit, one step of exponent below its own: the
/// hidden bit adds that step. So a carry out of the fraction raises the exponent by itself, and a
/// subnormal result that grows to the smallest normal number becomes it.
template <FormatShape shape>
std::uint32_t nearest_code(Magnitude const& x) {
  int const below = shape.exponent_min() - x.exponent;  // > 0: subnormal, bits are lost
  int const shift = fp32::fraction_bits - shape.fraction_bits + (below > 0 ? below : 0);
  std::uint32_t const significand = shifted_to_nearest(x.significand, shift);
  if (below > 0) return significand;
  auto const steps = static_cast<std::uint32_t>(x.exponent - shape.exponent_min());
  return (steps << shape.fraction_bits) + significand;
}

/// What a finite code is worth; exact. `sign` is the sign bit of the result.
template <FormatShape shape>
float value_of_code(std::uint32_t code, std::uint32_t sign) {
  std::uint32_t const fraction = code & ((1U << shape.fraction_bits) - 1);
  int const biased = static_cast<int>(code >> shape.fraction_bits);
  if (biased > 0) {
    auto const rebiased = static_cast<std::uint32_t>(biased - shape.bias() + fp32::bias);
    int const widening = fp32::fraction_bits - shape.fraction_bits;
    return std::bit_cast<float>(sign | rebiased << fp32::fraction_bits | fraction << widening);
  }
  if (fraction == 0) return std::bit_cast<float>(sign);
  // The leading bit becomes the hidden one.
  int const leading = std::bit_width(fraction) - 1;
  auto const exponent =
      static_cast<std::uint32_t>(shape.exponent_min() - shape.fraction_bits + leading + fp32::bias);
  std::uint32_t const rest = fraction << (fp32::fraction_bits - leading) & (fp32::hidden_bit - 1);
  return std::bit_cast<float>(sign | exponent << fp32::fraction_bits | rest);
}

}  // namespace adamant::oracle
