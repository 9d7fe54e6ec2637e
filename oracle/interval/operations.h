// What single operations may give where nobody promised how their results are rounded: ranges of
// real numbers, and what is left of them where a result is kept as it is, or rounded to binary32,
// or to the format of its tensor. It knows no optimizer.
#pragma once

#include "oracle/types.h"

namespace adamant::oracle {

/// A range of real numbers; its ends may be infinite.
struct Range {
  double lo = 0.0;
  double hi = 0.0;
};

/// Both, and all between them.
Range hull(Range const& a, Range const& b);

/// What an exact operation makes of any two members, in binary64: an end that is not exact goes one
/// step outward. All numbers where an end is not finite.
Range sum(Range const& a, Range const& b);
Range difference(Range const& a, Range const& b);
Range product(Range const& a, Range const& b);

/// Each member as it is, rounded to binary32, or rounded to `format`, once or by way of binary32.
/// All numbers where that may overflow.
Range rounded_or_not(Range const& exact, NumberFormat format);

}  // namespace adamant::oracle
