#include "oracle/quantise/states.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/check.h"
#include "oracle/formats/formats.h"
#include "oracle/formats/small_formats.h"

namespace adamant::oracle {
namespace {

/// What the largest magnitude becomes before it is rounded, so that it never overflows.
float range_of(NumberFormat format) {
  check(format == NumberFormat::fp16 || format == NumberFormat::fp8, "a format with a scale");
  return format == NumberFormat::fp16 ? 32752.0F : 448.0F;
}

std::uint16_t stored_of(float x, NumberFormat format) {
  if (format == NumberFormat::fp16) return bits_of(x, format);
  return code_of(x, SmallFormat::e4m3, Beyond::is_no_number);
}

float number_of(std::uint16_t stored, NumberFormat format) {
  if (format == NumberFormat::fp16) return value_of(stored, format);
  return value_of(static_cast<std::uint8_t>(stored), SmallFormat::e4m3);
}

}  // namespace

float amax_of(std::span<float const> values) {
  float amax = 0.0F;
  for (float const x : values)
    if (std::isfinite(x)) amax = std::max(amax, std::fabs(x));
  return amax;
}

float scale_of(float amax, NumberFormat format) {
  if (amax == 0.0F) return 1.0F;
  return std::max(amax / range_of(format), 0x1p-126F);
}

std::uint16_t stored_scaled(float x, float scale, NumberFormat format) {
  return stored_of(x * (1.0F / scale), format);
}

float value_of_scaled(std::uint16_t stored, float scale, NumberFormat format) {
  return number_of(stored, format) * scale;
}

void round_scaled(std::span<float> values, float scale, NumberFormat format) {
  float const inverse = 1.0F / scale;
  for (float& x : values) x = number_of(stored_of(x * inverse, format), format) * scale;
}

std::uint64_t scaled_distance(float a, float b, float scale, NumberFormat format) {
  float const inverse = 1.0F / scale;
  return ulp_distance(number_of(stored_of(a * inverse, format), format),
                      number_of(stored_of(b * inverse, format), format), format);
}

SplitWeight split(float weight) {
  if (std::isnan(weight)) return {.parameter = 0x7fff, .remainder = 0};
  auto const bits = std::bit_cast<std::uint32_t>(weight);
  auto const remainder = static_cast<std::uint16_t>(bits);
  auto const parameter = static_cast<std::uint16_t>((bits >> 16) + (remainder >> 15));
  return {.parameter = parameter, .remainder = remainder};
}

float joined(SplitWeight const& split) {
  std::uint32_t const upper = split.parameter - (std::uint32_t{split.remainder} >> 15);
  return std::bit_cast<float>(upper << 16 | split.remainder);
}

}  // namespace adamant::oracle
