#include "real/cuda/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "real/cuda/assert.h"
#include "real/cuda/state_numbers.h"

namespace adamant::real {

std::vector<float> decoded(std::span<std::byte const> bytes, NumberFormat format, float scale) {
  ADAMANT_REAL_ASSERT(format != NumberFormat::remainder);
  std::vector<float> values;
  values.reserve(bytes.size() / bytes_of(format));
  with_type_of(format, [&]<typename T>(T*) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T number;
      std::memcpy(&number, bytes.data() + at, sizeof(T));
      values.push_back(widened(number) * scale);
    }
  });
  return values;
}

namespace {

std::vector<std::byte> remainders_of(std::span<float const> weights) {
  std::vector<std::byte> bytes(weights.size() * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::uint16_t const remainder = split(weights[i]).remainder;
    std::memcpy(bytes.data() + i * sizeof remainder, &remainder, sizeof remainder);
  }
  return bytes;
}

}  // namespace

std::vector<std::byte> encoded(std::span<float const> values, NumberFormat format, float scale) {
  if (format == NumberFormat::remainder) return remainders_of(values);
  std::vector<std::byte> bytes(values.size() * bytes_of(format));
  float const inverse = 1 / scale;
  with_type_of(format, [&]<typename T>(T*) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      T const number = stored<T>(values[i] * inverse);
      std::memcpy(bytes.data() + i * sizeof(T), &number, sizeof(T));
    }
  });
  return bytes;
}

std::vector<float> rounded(std::span<float const> values, NumberFormat format) {
  ADAMANT_REAL_ASSERT(format != NumberFormat::remainder);
  std::vector<float> result;
  result.reserve(values.size());
  with_type_of(format, [&]<typename T>(T*) {
    for (float const value : values) result.push_back(widened(stored<T>(value)));
  });
  return result;
}

float amax_of(std::span<float const> values) {
  float largest = 0;
  for (float const value : values)
    if (std::isfinite(value) && std::fabs(value) > largest) largest = std::fabs(value);
  return largest;
}

bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace adamant::real
