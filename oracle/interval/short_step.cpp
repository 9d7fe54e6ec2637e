#include "oracle/interval/short_step.h"

#include <algorithm>

namespace adamant::oracle {
namespace {

constexpr double scalar_rounding = 0x1p-24;  // s

Range about(double scalar, double error) {
  return {scalar - error, scalar + error};
}

Range only_positive(Range const& range) {
  return {std::max(range.lo, 0.0), std::max(range.hi, 0.0)};
}

}  // namespace

Range ShortStep::operand(float scalar) const {
  return result({scalar, scalar});
}

Range ShortStep::decayed_gradient(Range const& gradient, float decay, double weight) const {
  return result(sum(gradient, result(product(operand(decay), {weight, weight}))));
}

Range ShortStep::decayed_weight(double rate_decay, double weight) const {
  Range const kept = about(1 - rate_decay, scalar_rounding * (1 + rate_decay));
  return result(product(kept, {weight, weight}));
}

Range ShortStep::exp_avg(double beta, double exp_avg, Range const& gradient) const {
  double const error = beta < 0.5 ? scalar_rounding : 0.0;
  Range const kept = about(beta, error), taken = about(1 - beta, error), m{exp_avg, exp_avg};
  Range const apart = result(difference(gradient, m));
  Range range = sum(result(product(kept, m)), result(product(taken, gradient)));
  if (beta >= 0.5) range = hull(range, sum(m, result(product(taken, apart))));
  if (beta <= 0.5) range = hull(range, difference(gradient, result(product(kept, apart))));
  return range;
}

Range ShortStep::exp_avg_sq(double beta, double exp_avg_sq, Range const& gradient) const {
  double const error = 4 * scalar_rounding;
  Range const kept = about(beta, beta < 0.5 ? error : error * beta);
  Range const taken = about(1 - beta, beta < 0.5 ? error : error * (1 - beta));
  Range const v{exp_avg_sq, exp_avg_sq};
  Range const square = result(only_positive(product(gradient, gradient)));
  Range const added =
      hull(result(product(taken, square)),
           result(only_positive(product(result(product(taken, gradient)), gradient))));
  Range const apart = result(difference(square, v));
  Range range = sum(result(product(kept, v)), added);
  if (beta >= 0.5) range = hull(range, sum(v, result(product(taken, apart))));
  if (beta <= 0.5) range = hull(range, difference(square, result(product(kept, apart))));
  return range;
}

}  // namespace adamant::oracle
