// Optimizer states that are kept in 16 or 8 bits with a scale, and main weights that are kept as
// what their bfloat16 parameter lacks. Both are exact rules on single numbers; which numbers share
// a scale is the caller's.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/types.h"

namespace adamant::oracle {

// REQUIRES of everything with a scale: a format of scaled states, fp16 or fp8.

/// The largest finite magnitude; 0 where there is none.
float amax_of(std::span<float const> values);

/// The scale of numbers whose largest finite magnitude this is: amax over 32752, or over 448 in 8
/// bits, and at least 2^-126; 1 where amax is 0. One division, in binary32.
/// Source: TransformerEngine's FusedAdam, `_apply_scale`; the bounds are this project's.
float scale_of(float amax, NumberFormat format);

/// What is kept of `x`: x times fl32(1 / scale), to nearest, ties to even. NaN is kept as NaN, and
/// so is an infinity in 8 bits, which have none.
std::uint16_t stored_scaled(float x, float scale, NumberFormat format);

/// What a kept number is worth: times its scale, rounded once.
float value_of_scaled(std::uint16_t stored, float scale, NumberFormat format);

/// Every number becomes what it is worth once it is kept with this scale.
void round_scaled(std::span<float> values, float scale, NumberFormat format);

/// Steps between two numbers, as they are kept with one scale, on the line of all of the format.
std::uint64_t scaled_distance(float a, float b, float scale, NumberFormat format);

/// A binary32 as a bfloat16 parameter and the 16 bits that it lacks.
struct SplitWeight {
  std::uint16_t parameter = 0;
  std::uint16_t remainder = 0;

  friend bool operator==(SplitWeight const&, SplitWeight const&) = default;
};

/// The upper half, plus 1 where the lower half begins with a set bit: to nearest, ties away from
/// zero. A NaN is 0x7fff without remainder, so that the parameter alone is one too.
SplitWeight split(float weight);

/// The weight that was split, bit for bit; of a NaN the canonical one of bfloat16.
float joined(SplitWeight const& split);

}  // namespace adamant::oracle
