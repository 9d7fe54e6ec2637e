#include "oracle/formats/formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "oracle/check.h"
#include "oracle/compare/first_difference.h"
#include "oracle/formats/minifloat.h"
#include "oracle/formats/small_formats.h"

namespace adamant::oracle {
namespace {

constexpr FormatShape bf16{.exponent_bits = 8, .fraction_bits = 7};
constexpr FormatShape fp16{.exponent_bits = 5, .fraction_bits = 10};

constexpr std::uint16_t not_a_number = 0x7fff;

FormatShape shape_of(NumberFormat format) {
  check(format == NumberFormat::bf16 || format == NumberFormat::fp16, "a format of 16 bits");
  return format == NumberFormat::bf16 ? bf16 : fp16;
}

template <FormatShape shape>
std::uint16_t stored(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const magnitude = bits & ~fp32::sign_bit;
  if (magnitude > fp32::infinity_bits) return not_a_number;
  std::uint32_t const code = magnitude == fp32::infinity_bits
                                 ? shape.infinity()
                                 : nearest_code<shape>(taken_apart(magnitude));
  return static_cast<std::uint16_t>((bits & fp32::sign_bit) >> 16 |
                                    std::min(code, shape.infinity()));
}

template <FormatShape shape>
float worth(std::uint16_t bits) {
  if constexpr (shape.exponent_bits == 8)  // the upper half of a binary32
    return std::bit_cast<float>(std::uint32_t{bits} << 16);
  std::uint32_t const sign = (bits & 0x8000U) << 16;
  std::uint32_t const magnitude = bits & 0x7fffU;
  if (magnitude < shape.infinity()) return value_of_code<shape>(magnitude, sign);
  std::uint32_t const fraction = magnitude - shape.infinity();
  return std::bit_cast<float>(sign | fp32::infinity_bits |
                              fraction << (fp32::fraction_bits - shape.fraction_bits));
}

/// worth(stored(x)), for the usual case without the way through 16 bits: between the smallest
/// normal number and the largest the last bits go, and nothing can overflow.
template <FormatShape shape>
float kept(float x) {
  constexpr int shift = fp32::fraction_bits - shape.fraction_bits;
  constexpr auto smallest = static_cast<std::uint32_t>(shape.exponent_min() + fp32::bias)
                            << fp32::fraction_bits;
  constexpr std::uint32_t largest = smallest + ((shape.infinity() - 1) << shift) - fp32::hidden_bit;
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const magnitude = bits & ~fp32::sign_bit;
  if (magnitude == 0) return x;
  if (magnitude < smallest || magnitude > largest) return worth<shape>(stored<shape>(x));
  std::uint32_t const half = 1U << (shift - 1);
  std::uint32_t const even = (magnitude >> shift) & 1U;
  std::uint32_t const result = (magnitude + half - 1 + even) & ~((1U << shift) - 1);
  return std::bit_cast<float>((bits & fp32::sign_bit) | result);
}

template <FormatShape shape>
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
  if (format == NumberFormat::fp32) return std::bit_cast<float>(fp32::infinity_bits - 1);
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
  return shape_of(format).fraction_bits == bf16.fraction_bits ? kept<bf16>(x) : kept<fp16>(x);
}

void round_to(NumberFormat format, std::span<float> values) {
  if (format == NumberFormat::fp32) return;
  if (shape_of(format).fraction_bits == bf16.fraction_bits)
    for (float& value : values) value = kept<bf16>(value);
  else
    for (float& value : values) value = kept<fp16>(value);
}

void encode(NumberFormat format, std::span<float const> values, std::span<std::uint16_t> bits) {
  check(bits.size() == values.size(), "a place for every value");
  if (shape_of(format).fraction_bits == bf16.fraction_bits)
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
  if (format == NumberFormat::fp8) {
    std::transform(stored.begin(), stored.end(), values.begin(), [](std::byte code) {
      return value_of(std::to_integer<std::uint8_t>(code), SmallFormat::e4m3);
    });
    return;
  }
  if (shape_of(format).fraction_bits == bf16.fraction_bits) return decode_all<bf16>(stored, values);
  decode_all<fp16>(stored, values);
}

std::uint64_t ulp_distance(float a, float b, NumberFormat format) {
  if (format == NumberFormat::fp32) return ulp_distance(a, b);
  bool const byte = format == NumberFormat::fp8;
  std::uint32_t const sign = byte ? 0x80 : 0x8000;
  std::uint32_t const above_all = byte ? 0x7f : shape_of(format).infinity() + 1;
  auto const position = [&](float x) -> std::int64_t {
    if (std::isnan(x)) return above_all;
    std::uint32_t const bits = byte ? code_of(x, SmallFormat::e4m3) : bits_of(x, format);
    std::int64_t const magnitude = bits & (sign - 1);
    return (bits & sign) != 0 ? -magnitude - 1 : magnitude;
  };
  return static_cast<std::uint64_t>(std::abs(position(a) - position(b)));
}

}  // namespace adamant::oracle
