#include "oracle/interval/admissible.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/check.h"
#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double fp32_overflows_from = 0x1p128 - 0x1p103;

/// The smallest binary32 number that is not below x; -infinity stays.
float not_below(double x) {
  if (std::abs(x) >= fp32_overflows_from) {
    if (x > 0.0) return infinity;
    return std::isinf(x) ? -infinity : -std::numeric_limits<float>::max();
  }
  auto const rounded = static_cast<float>(x);
  return static_cast<double>(rounded) >= x ? rounded : std::nextafter(rounded, infinity);
}

float not_above(double x) {
  return -not_below(-x);
}

}  // namespace

bool Admissible::contains(float actual) const {
  if (std::isnan(actual)) return may_be_nan;
  if (std::isinf(actual)) return actual > 0.0F ? may_be_pos_inf : may_be_neg_inf;
  return finite_possible && lo <= actual && actual <= hi;
}

double Admissible::used(float actual) const {
  if (!std::isfinite(actual) || lo == hi) return 0.0;
  double const middle = 0.5 * lo + 0.5 * hi;
  return std::abs(actual - middle) / (hi - middle);
}

Admissible only_nan() {
  return {.may_be_nan = true};
}

Admissible only(float value) {
  if (std::isnan(value)) return only_nan();
  if (std::isfinite(value)) return {.finite_possible = true, .lo = value, .hi = value};
  return {.may_be_pos_inf = value > 0.0F, .may_be_neg_inf = value < 0.0F};
}

Admissible joined(Admissible const& a, Admissible const& b) {
  Admissible result = a.finite_possible ? a : b;
  if (a.finite_possible && b.finite_possible) {
    result.lo = std::min(a.lo, b.lo);
    result.hi = std::max(a.hi, b.hi);
  }
  result.may_be_nan = a.may_be_nan || b.may_be_nan;
  result.may_be_pos_inf = a.may_be_pos_inf || b.may_be_pos_inf;
  result.may_be_neg_inf = a.may_be_neg_inf || b.may_be_neg_inf;
  return result;
}

float nearest(double x, NumberFormat format) {
  if (std::isnan(x)) return std::numeric_limits<float>::quiet_NaN();
  if (std::abs(x) < fp32_overflows_from) return rounded(static_cast<float>(x), format);
  return x > 0.0 ? infinity : -infinity;
}

// A 16-bit result may come from x itself or from the binary32 number next to it. Going outward to
// binary32 covers both: it never crosses back over the middle between two numbers of the format.
Admissible rounded_interval(double lo, double hi, NumberFormat format) {
  check(lo <= hi, "an interval has its ends in order");
  bool const fp32 = format == NumberFormat::fp32;
  float const low = fp32 ? nearest(lo, format) : rounded(not_above(lo), format);
  float const high = fp32 ? nearest(hi, format) : rounded(not_below(hi), format);
  float const largest = largest_finite(format);
  return {.finite_possible = low != infinity && high != -infinity,
          .lo = std::clamp(low, -largest, largest),
          .hi = std::clamp(high, -largest, largest),
          .may_be_pos_inf = high == infinity,
          .may_be_neg_inf = low == -infinity};
}

}  // namespace adamant::oracle
