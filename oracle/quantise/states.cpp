#include "oracle/quantise/states.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/formats/formats.h"
#include "oracle/formats/small_formats.h"

namespace adamant::oracle {

float scale_of(std::span<float const> values, ScaledFormat format) {
  float amax = 0.0F;
  for (float const x : values)
    if (std::isfinite(x)) amax = std::max(amax, std::fabs(x));
  if (amax == 0.0F) return 1.0F;
  float const range = format == ScaledFormat::fp16 ? 32752.0F : 448.0F;
  return std::max(amax / range, 0x1p-126F);
}

std::uint16_t stored_scaled(float x, float scale, ScaledFormat format) {
  float const inverse = 1.0F / scale;
  float const scaled = x * inverse;
  if (format == ScaledFormat::fp16) return bits_of(scaled, NumberFormat::fp16);
  bool const none = std::isinf(x);
  return code_of(none ? std::nanf("") : scaled, SmallFormat::e4m3);
}

float value_of_scaled(std::uint16_t stored, float scale, ScaledFormat format) {
  if (format == ScaledFormat::fp16) return value_of(stored, NumberFormat::fp16) * scale;
  return value_of(static_cast<std::uint8_t>(stored), SmallFormat::e4m3) * scale;
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
