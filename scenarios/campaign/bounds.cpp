#include "scenarios/campaign/bounds.h"

#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

namespace adamant::scenarios {

namespace {

/// The logarithm of the chance to miss a bug that a share of the cases has: each schedule meets it
/// with that share of its chance.
double log_missed(Chances const& chances, double share) {
  double sum = 0;
  for (auto const& [chance, count] : chances)
    sum += static_cast<double>(count) * std::log1p(-share * chance);
  return sum;
}

}  // namespace

double chance_at_most(std::uint64_t failed, std::uint64_t cases) {
  if (failed >= cases) return 1;
  auto const n = static_cast<double>(cases);
  if (failed == 0) return -std::expm1(std::log1p(-confidence) / n);
  auto const k = static_cast<double>(failed);
  return boost::math::ibeta_inv(k + 1, n - k, confidence);
}

double missed_at_most(Chances const& chances) {
  return std::exp(log_missed(chances, 1));
}

double share_at_most(Chances const& chances) {
  double const enough = std::log1p(-confidence);
  if (log_missed(chances, 1) > enough) return 1;
  // The larger the share, the smaller the chance to miss it: halve until doubles end.
  double low = 0;
  double high = 1;
  for (;;) {
    double const middle = std::midpoint(low, high);
    if (middle <= low || middle >= high) return high;
    (log_missed(chances, middle) > enough ? low : high) = middle;
  }
}

}  // namespace adamant::scenarios
