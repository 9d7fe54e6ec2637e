// The 16-bit floats of collectives, in both directions, by integers: rounding is to nearest, ties
// to even, subnormals are kept, and every NaN becomes the one that NVIDIA's adders give.
//
// Sums and products of two of them in fp32, rounded once more, are correctly rounded: fp32 has more
// than twice their bits.
#pragma once

#include <bit>
#include <cstdint>

namespace adamant::sim {

inline float half_to_float(std::uint16_t half) {
  std::uint32_t const magnitude = half & 0x7FFFU;
  std::uint32_t const sign = (half & 0x8000U) << 16;
  // The exponents' biases differ by 112; the multiplication also normalises subnormals.
  auto const scaled =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112F);
  std::uint32_t const special = 0x7F800000U | (magnitude << 13);
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00U ? special : scaled));
}

inline std::uint16_t float_to_half(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t const magnitude = bits & 0x7FFFFFFFU;
  auto const sign = static_cast<std::uint16_t>((bits & 0x80000000U) >> 16);
  if (magnitude > 0x7F800000U) return 0x7FFF;
  if (magnitude >= 0x477FF000U) return sign | 0x7C00U;  // 65520 and above
  if (magnitude >= 0x38800000U) {                       // normal: from 2^-14
    std::uint32_t const rebiased = magnitude - (112U << 23);
    return static_cast<std::uint16_t>(sign | ((rebiased + 0xFFFU + ((rebiased >> 13) & 1U)) >> 13));
  }
  std::uint32_t const shift = 126U - (magnitude >> 23);  // to units of 2^-24
  if (shift > 24) return sign;
  std::uint32_t const significand = (magnitude & 0x7FFFFFU) | 0x800000U;
  std::uint32_t const kept = significand >> shift;
  std::uint32_t const rest = significand & ((1U << shift) - 1);
  std::uint32_t const middle = 1U << (shift - 1);
  bool const up = rest > middle || (rest == middle && (kept & 1U) != 0);
  return static_cast<std::uint16_t>(sign | (kept + (up ? 1U : 0U)));
}

inline float bfloat_to_float(std::uint16_t bfloat) {
  return std::bit_cast<float>(std::uint32_t{bfloat} << 16);
}

inline std::uint16_t float_to_bfloat(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t const rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FFFU : rounded);
}

}  // namespace adamant::sim
