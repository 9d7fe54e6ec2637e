#include "oracle/formats/formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "oracle/check.h"
#include "oracle/compare/first_difference.h"

namespace adamant::oracle {
namespace {

/// A format of 1 + exponent_bits + fraction_bits = 16 bits.
struct Shape {
  int exponent_bits = 0;
  int fraction_bits = 0;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// The exponent of the smallest normal number.
  constexpr int exponent_min() const { return 1 - bias(); }
  constexpr std::uint32_t infinity() const { return ((1U << exponent_bits) - 1) << fraction_bits; }
};
constexpr Shape bf16{.exponent_bits = 8, .fraction_bits = 7};
constexpr Shape fp16{.exponent_bits = 5, .fraction_bits = 10};

constexpr std::uint32_t sign_bit = 0x80000000U;
constexpr std::uint32_t infinity_bits = 0x7f800000U;
constexpr std::uint32_t hidden_bit = 0x00800000U;
constexpr int fraction_bits = 23;
constexpr int exponent_min = -126;
constexpr std::uint16_t not_a_number = 0x7fff;

Shape shape_of(NumberFormat format) {
  check(format != NumberFormat::fp32, "a format of 16 bits");
  return format == NumberFormat::bf16 ? bf16 : fp16;
}

/// A magnitude as an integer of 24 bits at most, times 2^(exponent - 23).
struct Magnitude {
  std::uint32_t significand = 0;
  int exponent = 0;
};

Magnitude taken_apart(std::uint32_t magnitude_bits) {
  std::uint32_t const fraction = magnitude_bits & (hidden_bit - 1);
  int const biased = static_cast<int>(magnitude_bits >> fraction_bits);
  if (biased == 0) return {fraction, exponent_min};
  return {fraction | hidden_bit, biased - 127};
}

/// `significand` / 2^shift, to nearest, ties to even. REQUIRES: 1 <= shift.
std::uint32_t shifted_to_nearest(std::uint32_t significand, int shift) {
  if (shift > 24) return 0;  // less than half of the last bit
  std::uint32_t const kept = significand >> shift;
  std::uint32_t const rest = significand & ((1U << shift) - 1);
  std::uint32_t const half = 1U << (shift - 1);
  bool const up = rest > half || (rest == half && (kept & 1U) != 0);
  return kept + (up ? 1U : 0U);
}

// A normal result is its fraction with the hidden bit, one step of exponent below its own: the
// hidden bit adds that step. So a carry out of the fraction raises the exponent by itself, up to
// infinity, and a subnormal result that grows to the smallest normal number becomes it.
template <Shape shape>
std::uint32_t rounded_bits(Magnitude const& x) {
  int const below = shape.exponent_min() - x.exponent;  // > 0: subnormal, bits are lost
  int const shift = fraction_bits - shape.fraction_bits + (below > 0 ? below : 0);
  std::uint32_t const significand = shifted_to_nearest(x.significand, shift);
  if (below > 0) return significand;
  auto const steps = static_cast<std::uint32_t>(x.exponent - shape.exponent_min());
  std::uint32_t const bits = (steps << shape.fraction_bits) + significand;
  return bits < shape.infinity() ? bits : shape.infinity();
}

template <Shape shape>
std::uint16_t stored(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const magnitude = bits & ~sign_bit;
  if (magnitude > infinity_bits) return not_a_number;
  std::uint32_t const result =
      magnitude == infinity_bits ? shape.infinity() : rounded_bits<shape>(taken_apart(magnitude));
  return static_cast<std::uint16_t>((bits & sign_bit) >> 16 | result);
}

template <Shape shape>
float worth(std::uint16_t bits) {
  if constexpr (shape.exponent_bits == 8)  // the upper half of a binary32
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  std::uint32_t const sign = (bits & 0x8000U) << 16;
  std::uint32_t const magnitude = bits & 0x7fffU;
  std::uint32_t const fraction = magnitude & ((1U << shape.fraction_bits) - 1);
  int const widening = fraction_bits - shape.fraction_bits;
  if (magnitude >= shape.infinity())
    return std::bit_cast<float>(sign | infinity_bits | fraction << widening);
  int const biased = static_cast<int>(magnitude >> shape.fraction_bits);
  if (biased > 0) {
    auto const rebiased = static_cast<std::uint32_t>(biased - shape.bias() + 127);
    return std::bit_cast<float>(sign | rebiased << fraction_bits | fraction << widening);
  }
  if (fraction == 0) return std::bit_cast<float>(sign);
  // The leading bit becomes the hidden one.
  int const leading = std::bit_width(fraction) - 1;
  auto const exponent =
      static_cast<std::uint32_t>(shape.exponent_min() - shape.fraction_bits + leading + 127);
  std::uint32_t const rest = fraction << (fraction_bits - leading) & (hidden_bit - 1);
  return std::bit_cast<float>(sign | exponent << fraction_bits | rest);
}

/// worth(stored(x)), for the usual case without the way through 16 bits: between the smallest
/// normal number and the largest the last bits go, and nothing can overflow.
template <Shape shape>
float kept(float x) {
  constexpr int shift = fraction_bits - shape.fraction_bits;
  constexpr auto smallest = static_cast<std::uint32_t>(shape.exponent_min() + 127) << fraction_bits;
  constexpr std::uint32_t largest = smallest + ((shape.infinity() - 1) << shift) - hidden_bit;
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const magnitude = bits & ~sign_bit;
  if (magnitude == 0) return x;
  if (magnitude < smallest || magnitude > largest) return worth<shape>(stored<shape>(x));
  std::uint32_t const half = 1U << (shift - 1);
  std::uint32_t const even = (magnitude >> shift) & 1U;
  std::uint32_t const result = (magnitude + half - 1 + even) & ~((1U << shift) - 1);
  return std::bit_cast<float>((bits & sign_bit) | result);
}

template <Shape shape>
void decode_all(std::span<std::byte const> bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const low = std::to_integer<unsigned>(bytes[2 * i]);
    auto const high = std::to_integer<unsigned>(bytes[2 * i + 1]);
    values[i] = worth<shape>(static_cast<std::uint16_t>(low | high << 8));
  }
}

}  // namespace

int significant_bits(NumberFormat format) {
  return format == NumberFormat::fp32 ? 24 : 1 + shape_of(format).fraction_bits;
}

float largest_finite(NumberFormat format) {
  if (format == NumberFormat::fp32) return std::bit_cast<float>(infinity_bits - 1);
  return value_of(static_cast<std::uint16_t>(shape_of(format).infinity() - 1), format);
}

double smallest_positive(NumberFormat format) {
  if (format == NumberFormat::fp16) return 0x1p-24;
  return format == NumberFormat::bf16 ? 0x1p-133 : 0x1p-149;
}

std::uint16_t bits_of(float x, NumberFormat format) {
  return shape_of(format).fraction_bits == bf16.fraction_bits ? stored<bf16>(x) : stored<fp16>(x);
}

float value_of(std::uint16_t bits, NumberFormat format) {
  return shape_of(format).fraction_bits == bf16.fraction_bits ? worth<bf16>(bits)
                                                              : worth<fp16>(bits);
}

float rounded(float x, NumberFormat format) {
  if (format == NumberFormat::fp32) return x;
  return format == NumberFormat::bf16 ? kept<bf16>(x) : kept<fp16>(x);
}

void round_to(NumberFormat format, std::span<float> values) {
  if (format == NumberFormat::bf16)
    for (float& value : values) value = kept<bf16>(value);
  if (format == NumberFormat::fp16)
    for (float& value : values) value = kept<fp16>(value);
}

void encode(NumberFormat format, std::span<float const> values, std::span<std::uint16_t> bits) {
  check(bits.size() == values.size(), "a place for every value");
  check(format != NumberFormat::fp32, "a format of 16 bits");
  if (format == NumberFormat::bf16)
    std::transform(values.begin(), values.end(), bits.begin(), stored<bf16>);
  else
    std::transform(values.begin(), values.end(), bits.begin(), stored<fp16>);
}

void decode(NumberFormat format, std::span<std::byte const> stored, std::span<float> values) {
  check(stored.size() == values.size() * bytes_of(format), "a number for every value");
  if (format == NumberFormat::fp32) {
    if (!values.empty()) std::memcpy(values.data(), stored.data(), stored.size());
    return;
  }
  if (format == NumberFormat::bf16) return decode_all<bf16>(stored, values);
  decode_all<fp16>(stored, values);
}

std::uint64_t ulp_distance(float a, float b, NumberFormat format) {
  if (format == NumberFormat::fp32) return ulp_distance(a, b);
  auto const position = [&](float x) {
    if (std::isnan(x)) return static_cast<std::int64_t>(shape_of(format).infinity()) + 1;
    std::uint16_t const bits = bits_of(x, format);
    std::int64_t const magnitude = bits & 0x7fff;
    return (bits & 0x8000) != 0 ? -magnitude - 1 : magnitude;
  };
  return static_cast<std::uint64_t>(std::abs(position(a) - position(b)));
}

}  // namespace adamant::oracle
