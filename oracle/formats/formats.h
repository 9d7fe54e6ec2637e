// The 16-bit number formats, by integer arithmetic alone: what a binary32 becomes when it is stored
// as bfloat16 or binary16, and what a stored number is worth. The oracle computes in binary32 and
// keeps values that their format can hold; it never sees a processor's own conversions.
//
//   format  sign  exponent  fraction   significant bits  largest finite  smallest > 0
//   fp32       1         8        23                 24    2^128 - 2^104        2^-149
//   bf16       1         8         7                  8    2^128 - 2^120        2^-133
//   fp16       1         5        10                 11            65504         2^-24
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oracle/types.h"

namespace adamant::oracle {

/// Significant bits of a normal number, the hidden one included.
int significant_bits(NumberFormat format);
/// The largest finite number.
float largest_finite(NumberFormat format);
/// The smallest positive number: 2^-149, 2^-133 or 2^-24.
double smallest_positive(NumberFormat format);

/// The bits of `x` in a 16-bit format.
///
/// Rounding: once, to nearest, ties to even; beyond the largest finite number by half a step or
///           more it is an infinity; results below the smallest normal number keep fewer bits.
/// NaN:      every one becomes the positive one of all ones, as NVIDIA's conversions give.
/// Errors:   asserts that the format has 16 bits.
std::uint16_t bits_of(float x, NumberFormat format);

/// The same for every element.
void encode(NumberFormat format, std::span<float const> values, std::span<std::uint16_t> bits);

/// What the bits of a 16-bit format are worth; exact. A NaN stays one.
float value_of(std::uint16_t bits, NumberFormat format);

/// The value that `format` keeps of `x`; `x` itself in fp32.
float rounded(float x, NumberFormat format);

/// The same for every element, in place.
void round_to(NumberFormat format, std::span<float> values);

/// Widens stored numbers, of fp8 too. Shapes: `stored` has values.size() elements of `format`,
/// little-endian.
void decode(NumberFormat format, std::span<std::byte const> stored, std::span<float> values);

/// Steps between two numbers on the line of all values of `format` in order, as ulp_distance() of
/// oracle/compare counts them in fp32. REQUIRES: both are values of the format, which may be fp8.
std::uint64_t ulp_distance(float a, float b, NumberFormat format);

/// How a parameter's tensor of one kind is stored, or nothing where there is none of that kind: no
/// main weight was asked for, or the optimizer takes the gradient as it is. A main weight of which
/// a remainder is stored counts as the fp32 that it is, and so does a quantised parameter, by what
/// reading it gives.
inline std::optional<NumberFormat> stored_format(Formats const& formats, TensorKind kind) {
  bool const same = formats.gradient == formats.weight();
  switch (kind) {
    case TensorKind::parameter:
      return formats.recipe ? NumberFormat::fp32 : formats.parameter;
    case TensorKind::gradient:
      return formats.gradient;
    case TensorKind::exp_avg:
      return formats.exp_avg;
    case TensorKind::exp_avg_sq:
      return formats.exp_avg_sq;
    case TensorKind::main:
      return formats.main ? std::optional(formats.weight()) : std::nullopt;
    case TensorKind::cast_gradient:
      break;
  }
  if (formats.decoupled_gradient || same) return std::nullopt;
  return formats.weight();
}

}  // namespace adamant::oracle
