#include "scenarios/judge/reduced.h"

#include <cmath>

#include "oracle/formats/formats.h"
#include "oracle/reduce/sum_bound.h"

namespace adamant::scenarios {

namespace {

// PyTorch divides fp16 gradients by a power of two of at most 4 before they are summed, and by the
// rest after it. An input of which a quarter is subnormal may lose half of the smallest number, so
// that eight of them move the mean by as much as this, and their sum across the middle between two
// numbers.
constexpr float fp16_loses_below = 0x1p-12F;
constexpr double fp16_lost = 0x1p-22;

/// What is kept of one element's inputs.
struct Sum {
  double total = 0;
  double magnitude = 0;
  bool loses_bits = false;  // if divided before

  void add(float x) {
    total += static_cast<double>(x);
    magnitude += std::abs(static_cast<double>(x));
    loses_bits = loses_bits || (x != 0.0F && std::abs(x) < fp16_loses_below);
  }
};

oracle::Admissible widened(oracle::Admissible const& value) {
  if (!value.finite_possible) return value;
  // A number's step of the sum is up to 2^-10 of it, whatever divides it. And half of one of the
  // mean is what rounding has moved the bound.
  auto const slack = [](float x) {
    double const half = x == 0.0F ? 0.0 : std::ldexp(1.0, std::ilogb(x) - 11);
    return std::abs(static_cast<double>(x)) * 0x1p-10 + half + fp16_lost;
  };
  return oracle::joined(
      value, oracle::rounded_interval(value.lo - slack(value.lo), value.hi + slack(value.hi),
                                      NumberFormat::fp16));
}

/// Also what comes out where divisions on the way keep sums from overflowing: of fp16 before they
/// are taken, of replicas between the sums of shards and their own.
oracle::Admissible divided_on_the_way(oracle::Admissible bound, Sum const& sum,
                                      Unreduced const& unreduced) {
  NumberFormat const format = unreduced.format;
  if (!std::isfinite(sum.total)) return bound;
  if (format == NumberFormat::fp16 && sum.loses_bits) bound = widened(bound);
  if (sum.magnitude < static_cast<double>(oracle::largest_finite(format))) return bound;
  double const mean = sum.total / unreduced.divisor;
  double const u = std::ldexp(1.0, -oracle::significant_bits(format));
  double const error =
      static_cast<double>(unreduced.inputs.size()) * u * sum.magnitude / unreduced.divisor;
  return oracle::joined(bound, oracle::rounded_interval(mean - error, mean + error, format));
}

}  // namespace

std::vector<oracle::Admissible> reduced_bounds(Unreduced const& unreduced) {
  std::size_t const numel = unreduced.inputs.empty() ? 0 : unreduced.inputs.front().size();
  NumberFormat const format = unreduced.format;
  oracle::MeanBounds any_order(static_cast<std::int64_t>(numel), format);
  std::vector<Sum> sums(numel);
  for (auto const& input : unreduced.inputs) {
    any_order.add(input);
    for (std::size_t i = 0; i < numel; ++i) sums[i].add(input[i]);
  }
  std::vector<oracle::Admissible> bounds;
  for (std::size_t i = 0; i < numel; ++i) {
    if (unreduced.exact && std::isfinite(sums[i].total)) {
      float const mean = static_cast<float>(sums[i].total) / static_cast<float>(unreduced.divisor);
      bounds.push_back(oracle::only(oracle::rounded(mean, format)));
      continue;
    }
    auto const bound = any_order.at(static_cast<std::int64_t>(i), unreduced.divisor);
    bounds.push_back(divided_on_the_way(bound, sums[i], unreduced));
  }
  return bounds;
}

}  // namespace adamant::scenarios
