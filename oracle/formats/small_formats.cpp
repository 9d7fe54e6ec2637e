#include "oracle/formats/small_formats.h"

#include <bit>
#include <limits>

#include "oracle/check.h"
#include "oracle/formats/minifloat.h"

namespace adamant::oracle {
namespace {

/// What a format's codes mean beyond their shape.
struct SmallShape {
  FormatShape shape = {};
  std::uint32_t largest = 0;    // the code of the largest finite number
  std::uint32_t beyond = 0;     // what stands for numbers above it where they do not saturate
  std::uint32_t nan = 0;        // what NaN is stored as
  std::uint32_t first_nan = 0;  // it and all above it are read as NaN; 0 where none is

  constexpr int sign_shift() const { return 31 - shape.exponent_bits - shape.fraction_bits; }
  constexpr std::uint32_t magnitudes() const { return (fp32::sign_bit >> sign_shift()) - 1; }
};
constexpr SmallShape e4m3{.shape = {.exponent_bits = 4, .fraction_bits = 3},
                          .largest = 0x7e,
                          .beyond = 0x7f,
                          .nan = 0x7f,
                          .first_nan = 0x7f};
constexpr SmallShape e5m2{.shape = {.exponent_bits = 5, .fraction_bits = 2},
                          .largest = 0x7b,
                          .beyond = 0x7c,
                          .nan = 0x7f,
                          .first_nan = 0x7d};
constexpr SmallShape e2m1{
    .shape = {.exponent_bits = 2, .fraction_bits = 1}, .largest = 0x7, .beyond = 0x7, .nan = 0x7};

constexpr std::uint8_t e8m0_largest = 0xfe;
constexpr std::uint8_t e8m0_nan = 0xff;

template <SmallShape small>
std::uint8_t stored(float x, Beyond beyond) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  std::uint32_t const magnitude = bits & ~fp32::sign_bit;
  if (magnitude > fp32::infinity_bits) return small.nan;
  bool const finite = magnitude < fp32::infinity_bits;
  std::uint32_t code = finite ? nearest_code<small.shape>(taken_apart(magnitude)) : fp32::sign_bit;
  if (code > small.largest) code = beyond == Beyond::saturates ? small.largest : small.beyond;
  return static_cast<std::uint8_t>((bits & fp32::sign_bit) >> small.sign_shift() | code);
}

template <SmallShape small>
float worth(std::uint8_t code) {
  std::uint32_t const sign = (std::uint32_t{code} << small.sign_shift()) & fp32::sign_bit;
  std::uint32_t const magnitude = code & small.magnitudes();
  if (small.first_nan != 0 && magnitude >= small.first_nan)
    return std::numeric_limits<float>::quiet_NaN();
  if (magnitude > small.largest) return std::bit_cast<float>(sign | fp32::infinity_bits);
  return value_of_code<small.shape>(magnitude, sign);
}

}  // namespace

std::string_view name_of(SmallFormat format) {
  constexpr std::string_view names[] = {"e4m3", "e5m2", "e2m1"};
  return names[static_cast<int>(format)];
}

float largest_finite(SmallFormat format) {
  constexpr float largest[] = {448.0F, 57344.0F, 6.0F};
  return largest[static_cast<int>(format)];
}

int bits_of(SmallFormat format) {
  return format == SmallFormat::e2m1 ? 4 : 8;
}

std::uint8_t code_of(float x, SmallFormat format, Beyond beyond) {
  if (format == SmallFormat::e4m3) return stored<e4m3>(x, beyond);
  return format == SmallFormat::e5m2 ? stored<e5m2>(x, beyond) : stored<e2m1>(x, beyond);
}

float value_of(std::uint8_t code, SmallFormat format) {
  if (format == SmallFormat::e4m3) return worth<e4m3>(code);
  return format == SmallFormat::e5m2 ? worth<e5m2>(code) : worth<e2m1>(code);
}

// The exponent field of a binary32 is the code of the power of two at or below it; only 2^-127 is
// a subnormal binary32, whose field is 0 like that of everything below.
std::uint8_t e8m0_not_below(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & ~fp32::sign_bit) > fp32::infinity_bits) return e8m0_nan;
  check(x >= 0, "a magnitude");
  std::uint32_t const field = bits >> fp32::fraction_bits & 0xffU;
  std::uint32_t const fraction = bits & (fp32::hidden_bit - 1);
  std::uint32_t const power_of_field = field == 0 ? fp32::hidden_bit / 2 : 0;
  std::uint32_t const code = field + (fraction > power_of_field ? 1U : 0U);
  return code < e8m0_largest ? static_cast<std::uint8_t>(code) : e8m0_largest;
}

float value_of_e8m0(std::uint8_t code) {
  if (code == e8m0_nan) return std::numeric_limits<float>::quiet_NaN();
  if (code == 0) return 0x1p-127F;
  return std::bit_cast<float>(std::uint32_t{code} << fp32::fraction_bits);
}

}  // namespace adamant::oracle
