#include "oracle/reduce/sum_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

constexpr std::uint8_t saw_nan = 1;
constexpr std::uint8_t saw_pos_inf = 2;
constexpr std::uint8_t saw_neg_inf = 4;

constexpr int count_max = 1 << 22;
constexpr float largest = std::numeric_limits<float>::max();
constexpr double overflows_from = 0x1p128 - 0x1p103;
constexpr double u = 0x1p-24;
constexpr double widening = 1.0 + 0x1p-24;  // step 7

/// What is kept of one element's inputs.
struct Sums {
  SideSum positive;
  SideSum negative;
  std::uint8_t nonfinite = 0;
};

std::uint8_t nonfinite_class(float x) {
  if (std::isnan(x)) return saw_nan;
  if (std::isinf(x)) return x > 0.0F ? saw_pos_inf : saw_neg_inf;
  return 0;
}

Sums plus(Sums sums, float x) {
  if (!std::isfinite(x)) {
    sums.nonfinite |= nonfinite_class(x);
    return sums;
  }
  // Both sides, one of them by 0: the signs of gradients are no pattern that a branch could learn.
  sums.positive.sum += x > 0.0F ? x : 0.0F;
  sums.negative.sum += x < 0.0F ? -x : 0.0F;
  sums.positive.count += x > 0.0F ? 1U : 0U;
  sums.negative.count += x < 0.0F ? 1U : 0U;
  return sums;
}

/// Rounds to nearest; out of range gives an infinity, which a plain cast leaves undefined.
float to_float(double x) {
  if (std::abs(x) < overflows_from) return static_cast<float>(x);
  return std::copysign(std::numeric_limits<float>::infinity(),
                       static_cast<float>(x > 0.0 ? 1 : -1));
}

float smallest_not_below(double x) {
  if (x <= -static_cast<double>(largest)) return -largest;
  auto const nearest = static_cast<float>(x);
  return nearest >= x ? nearest : std::nextafter(nearest, largest);
}

float largest_not_above(double x) {
  return -smallest_not_below(-x);
}

/// Step 2: what no partial sum of `side`, with `roundings` of each input, exceeds.
double growth_limit(SideSum const& side, double roundings) {
  return side.sum * (1.0 + 2.0 * std::max(roundings, 0.0) * u);
}

/// ufp(x) for a normal x > 0.
double power_of_two_in(double x) {
  return std::ldexp(1.0, std::ilogb(x));
}

/// Step 3. REQUIRES: k >= 3.
double rounding_error(Sums const& sums, double k) {
  auto const m = std::max(growth_limit(sums.positive, sums.positive.count - 1.0),
                          growth_limit(sums.negative, sums.negative.count - 1.0));
  return (k - 1.0) * u * power_of_two_in(m) * widening;
}

/// Step 6: could the inputs of one sign, in some order, overflow?
bool can_overflow(SideSum const& side) {
  return side.count >= 2 && growth_limit(side, side.count - 2.0) >= overflows_from;
}

Admissible only_nan() {
  return {.may_be_nan = true};
}

/// Step 4: one value, whatever it is.
Admissible only(float value) {
  if (std::isnan(value)) return only_nan();
  if (std::isfinite(value)) return {.finite_possible = true, .lo = value, .hi = value};
  return {.may_be_pos_inf = value > 0.0F, .may_be_neg_inf = value < 0.0F};
}

Admissible sum_of_nonfinite(Sums const& sums) {
  if ((sums.nonfinite & saw_nan) != 0) return only_nan();
  if (sums.nonfinite == (saw_pos_inf | saw_neg_inf)) return only_nan();
  bool const positive = sums.nonfinite == saw_pos_inf;
  return {.may_be_nan = can_overflow(positive ? sums.negative : sums.positive),
          .may_be_pos_inf = positive,
          .may_be_neg_inf = !positive};
}

Admissible sum_of_finite(Sums const& sums) {
  double const sum = sums.positive.sum - sums.negative.sum;
  auto const k = sums.positive.count + sums.negative.count;
  if (k <= 2) return only(to_float(sum));
  double const error = rounding_error(sums, k);
  Admissible result;
  result.finite_possible = std::abs(sum) - error <= static_cast<double>(largest);
  result.lo = smallest_not_below(std::min<double>(sum - error, largest));
  result.hi = largest_not_above(std::max<double>(sum + error, -largest));
  result.may_be_pos_inf = can_overflow(sums.positive);
  result.may_be_neg_inf = can_overflow(sums.negative);
  result.may_be_nan = result.may_be_pos_inf && result.may_be_neg_inf;
  return result;
}

Admissible mean_of(Sums const& sums, int count) {
  auto result = sums.nonfinite != 0 ? sum_of_nonfinite(sums) : sum_of_finite(sums);
  result.lo /= static_cast<float>(count);
  result.hi /= static_cast<float>(count);
  return result;
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

Admissible mean_bound(std::span<float const> inputs) {
  check(!inputs.empty(), "a mean needs a microbatch");
  check(inputs.size() <= count_max, "the bound holds up to 2^22 inputs");
  Sums sums;
  for (float const x : inputs) sums = plus(sums, x);
  return mean_of(sums, static_cast<int>(inputs.size()));
}

Admissible add_to(float older, Admissible const& mean) {
  if (std::isnan(older)) return only_nan();
  constexpr float inf = std::numeric_limits<float>::infinity();
  Admissible result{.may_be_nan = mean.may_be_nan};
  result.may_be_pos_inf = mean.may_be_pos_inf && older != -inf;
  result.may_be_neg_inf = mean.may_be_neg_inf && older != inf;
  result.may_be_nan |= mean.may_be_pos_inf && older == -inf;
  result.may_be_nan |= mean.may_be_neg_inf && older == inf;
  if (!mean.finite_possible) return result;
  float const lo = older + mean.lo;
  float const hi = older + mean.hi;
  result.may_be_pos_inf |= hi == inf;
  result.may_be_neg_inf |= lo == -inf;
  result.finite_possible = lo != inf && hi != -inf;
  result.lo = std::clamp(lo, -largest, largest);
  result.hi = std::clamp(hi, -largest, largest);
  return result;
}

MeanBounds::MeanBounds(std::int64_t numel)
    : positive_(static_cast<std::size_t>(numel)),
      negative_(static_cast<std::size_t>(numel)),
      nonfinite_(static_cast<std::size_t>(numel)) {}

std::int64_t MeanBounds::numel() const {
  return std::ssize(positive_);
}

void MeanBounds::add(std::span<float const> microbatch) {
  check(std::ssize(microbatch) == numel(), "a microbatch covers the tensor");
  check(count_ < count_max, "the bound holds up to 2^22 inputs");
  ++count_;
  for (std::size_t i = 0; i < microbatch.size(); ++i) {
    auto const sums = plus({positive_[i], negative_[i], nonfinite_[i]}, microbatch[i]);
    positive_[i] = sums.positive;
    negative_[i] = sums.negative;
    nonfinite_[i] = sums.nonfinite;
  }
}

Admissible MeanBounds::at(std::int64_t index) const {
  check(count_ >= 1, "a mean needs a microbatch");
  check(index >= 0 && index < numel(), "the index is in the tensor");
  auto const i = static_cast<std::size_t>(index);
  return mean_of({positive_[i], negative_[i], nonfinite_[i]}, count_);
}

std::optional<std::int64_t> MeanBounds::first_outside(std::span<float const> actual,
                                                      std::span<float const> older) const {
  check(std::ssize(actual) == numel(), "the observed values cover the tensor");
  check(older.empty() || older.size() == actual.size(), "so do the older ones, if any");
  for (std::int64_t i = 0; i < numel(); ++i) {
    auto const mean = at(i);
    auto const bound = older.empty() ? mean : add_to(older[static_cast<std::size_t>(i)], mean);
    if (!bound.contains(actual[static_cast<std::size_t>(i)])) return i;
  }
  return std::nullopt;
}

}  // namespace adamant::oracle
