// The number formats of 8 and 4 bits in which weights and moments are kept with a scale, by integer
// arithmetic alone. None of them is a NumberFormat: what a code is worth depends on a scale that is
// kept elsewhere.
//
//   format  sign  exponent  fraction  largest finite  smallest > 0  infinity  NaN
//   e4m3       1         4         3             448           2^-9  none      0x7f, 0xff
//   e5m2       1         5         2           57344          2^-16  0x7c      0x7d to 0x7f
//   e2m1       1         2         1               6            0.5  none      none
//   e8m0       0         8         0           2^127         2^-127  none      0xff
//
// Source: Open Compute Project, OCP 8-bit Floating Point Specification 1.0 and Microscaling Formats
// Specification 1.0.
#pragma once

#include <cstdint>
#include <string_view>

namespace adamant::oracle {

enum class SmallFormat : std::uint8_t { e4m3, e5m2, e2m1 };

/// What becomes of a number that rounds beyond the largest finite one, infinities included.
enum class Beyond : std::uint8_t {
  saturates,     // it becomes the largest finite number
  is_no_number,  // an infinity where the format has one, NaN where it has that, else as above
};

std::string_view name_of(SmallFormat format);
/// The largest finite number: 448, 57344 or 6.
float largest_finite(SmallFormat format);
/// How many bits a code has: 8, or 4 of e2m1, which stands in the lower half of a byte.
int bits_of(SmallFormat format);

/// The code of `x`.
///
/// Rounding: once, to nearest, ties to even; results below the smallest normal number keep fewer
///           bits. The sign of zero is kept.
/// NaN:      0x7f, whatever its sign; in e2m1, which has none, +6.
std::uint8_t code_of(float x, SmallFormat format, Beyond beyond = Beyond::saturates);

/// What a code is worth; exact. Of e2m1 the lower four bits count.
float value_of(std::uint8_t code, SmallFormat format);

/// The code of the smallest power of two that is not below `x`: 2^-127 for 0, and 2^127 for what is
/// above it, an infinity too. NaN is 0xff. REQUIRES: `x` is not negative.
std::uint8_t e8m0_not_below(float x);

/// What a code of e8m0 is worth: 2^(code - 127), which is subnormal for 0; NaN for 0xff.
float value_of_e8m0(std::uint8_t code);

}  // namespace adamant::oracle
