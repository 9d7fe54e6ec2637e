// The set of values that one element may have where nobody promised an order of roundings: an
// interval of finite numbers, and classes of others beside it. It knows nothing of how the set was
// derived.
#pragma once

#include "oracle/types.h"

namespace adamant::oracle {

/// The values that one element may have: an interval of finite ones, and classes of others.
struct Admissible {
  bool finite_possible = false;  // if not, lo and hi mean nothing
  float lo = 0.0F;
  float hi = 0.0F;
  bool may_be_nan = false;
  bool may_be_pos_inf = false;
  bool may_be_neg_inf = false;

  bool contains(float actual) const;

  /// How much of the interval a value inside uses: its distance from the middle over half the
  /// width; 0 in an interval of one value, and for a value that is not finite.
  double used(float actual) const;

  friend bool operator==(Admissible const&, Admissible const&) = default;
};

/// NaN, and nothing else.
Admissible only_nan();
/// One value, whatever it is.
Admissible only(float value);

/// Everything that either of two sets holds, and what lies between their intervals.
Admissible joined(Admissible const& a, Admissible const& b);

/// The number of `format` nearest to x, an infinity where x lies half a step or more beyond the
/// largest. In 16-bit formats through binary32, to which x is rounded first.
float nearest(double x, NumberFormat format);

/// Everything that rounding a number of [lo, hi] to `format` may give, whether it is rounded once
/// or by way of binary32. Ends may be infinite: then the interval's finite part is what is beyond
/// the other end.
///
/// Errors: asserts lo <= hi.
Admissible rounded_interval(double lo, double hi, NumberFormat format);

}  // namespace adamant::oracle
