#include "oracle/interval/operations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/interval/admissible.h"

namespace adamant::oracle {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();
constexpr Range everything{-no_end, no_end};

Range bounded(Range const& range) {
  return std::isfinite(range.lo) && std::isfinite(range.hi) ? range : everything;
}

/// x + y where binary64 holds it, else what is next to it in the direction of `end`.
double sum_towards(double end, double x, double y) {
  double const s = x + y;
  double const of_y = s - x;
  double const lost = (x - (s - of_y)) + (y - of_y);
  return lost == 0.0 ? s : std::nextafter(s, end);
}

double product_towards(double end, double x, double y) {
  double const p = x * y;
  return std::fma(x, y, -p) == 0.0 ? p : std::nextafter(p, end);
}

}  // namespace

Range hull(Range const& a, Range const& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Range sum(Range const& a, Range const& b) {
  return bounded({sum_towards(-no_end, a.lo, b.lo), sum_towards(no_end, a.hi, b.hi)});
}

Range difference(Range const& a, Range const& b) {
  return sum(a, {-b.hi, -b.lo});
}

Range product(Range const& a, Range const& b) {
  Range result{no_end, -no_end};
  for (double const x : {a.lo, a.hi})
    for (double const y : {b.lo, b.hi})
      result = {std::min(result.lo, product_towards(-no_end, x, y)),
                std::max(result.hi, product_towards(no_end, x, y))};
  return bounded(result);
}

Range rounded_or_not(Range const& exact, NumberFormat format) {
  if (!std::isfinite(exact.lo) || !std::isfinite(exact.hi)) return everything;
  Admissible const rounded = rounded_interval(exact.lo, exact.hi, format);
  if (rounded.may_be_pos_inf || rounded.may_be_neg_inf) return everything;
  double const low = nearest(exact.lo, NumberFormat::fp32);
  double const high = nearest(exact.hi, NumberFormat::fp32);
  return {std::min({exact.lo, low, static_cast<double>(rounded.lo)}),
          std::max({exact.hi, high, static_cast<double>(rounded.hi)})};
}

}  // namespace adamant::oracle
