#include "oracle/reduce/sum_bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/check.h"
#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

constexpr std::uint8_t saw_nan = 1;
constexpr std::uint8_t saw_pos_inf = 2;
constexpr std::uint8_t saw_neg_inf = 4;

constexpr int fp32_inputs_max = 1 << 22;
constexpr double widening = 1.0 + 0x1p-24;  // step 7

/// What the bound needs to know of the format in which a sum is taken.
struct FormatFacts {
  NumberFormat format = NumberFormat::fp32;
  double u = 0;
  float largest = 0;
  double overflows_from = 0;  // rounding gives infinity from here on
};

FormatFacts derived(NumberFormat format) {
  float const largest = largest_finite(format);
  double const half_step = std::ldexp(1.0, std::ilogb(largest) - significant_bits(format));
  return {.format = format,
          .u = std::ldexp(1.0, -significant_bits(format)),
          .largest = largest,
          .overflows_from = static_cast<double>(largest) + half_step};
}

FormatFacts const& facts_of(NumberFormat format) {
  static FormatFacts const all[] = {derived(NumberFormat::fp32), derived(NumberFormat::bf16),
                                    derived(NumberFormat::fp16)};
  return all[static_cast<std::size_t>(format)];
}

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

/// In fp32, and not below -largest.
float smallest_not_below(double x, float largest) {
  if (x <= -static_cast<double>(largest)) return -largest;
  auto const closest = static_cast<float>(x);
  return closest >= x ? closest : std::nextafter(closest, largest);
}

float largest_not_above(double x, float largest) {
  return -smallest_not_below(-x, largest);
}

/// Step 2: what no partial sum of `side`, with `roundings` of each input, exceeds.
double growth_limit(SideSum const& side, double roundings, double u) {
  return side.sum * (1.0 + 2.0 * std::max(roundings, 0.0) * u);
}

/// ufp(x) for a normal x > 0: its exponent without its fraction.
double power_of_two_in(double x) {
  constexpr std::uint64_t exponent_bits = 0x7ff0000000000000U;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & exponent_bits);
}

/// Step 3. REQUIRES: k >= 3.
double rounding_error(Sums const& sums, double k, double u) {
  auto const m = std::max(growth_limit(sums.positive, sums.positive.count - 1.0, u),
                          growth_limit(sums.negative, sums.negative.count - 1.0, u));
  return (k - 1.0) * u * power_of_two_in(m) * widening;
}

/// Step 6: could the inputs of one sign, in some order, overflow?
bool can_overflow(SideSum const& side, FormatFacts const& in) {
  return side.count >= 2 && growth_limit(side, side.count - 2.0, in.u) >= in.overflows_from;
}

Admissible sum_of_nonfinite(Sums const& sums, FormatFacts const& in) {
  if ((sums.nonfinite & saw_nan) != 0) return only_nan();
  if (sums.nonfinite == (saw_pos_inf | saw_neg_inf)) return only_nan();
  bool const positive = sums.nonfinite == saw_pos_inf;
  return {.may_be_nan = can_overflow(positive ? sums.negative : sums.positive, in),
          .may_be_pos_inf = positive,
          .may_be_neg_inf = !positive};
}

Admissible sum_of_finite(Sums const& sums, FormatFacts const& in) {
  double const sum = sums.positive.sum - sums.negative.sum;
  auto const k = sums.positive.count + sums.negative.count;
  if (k <= 2) return only(nearest(sum, in.format));
  double const error = rounding_error(sums, k, in.u);
  Admissible result;
  result.finite_possible = std::abs(sum) - error <= static_cast<double>(in.largest);
  result.lo = smallest_not_below(std::min<double>(sum - error, in.largest), in.largest);
  result.hi = largest_not_above(std::max<double>(sum + error, -in.largest), in.largest);
  result.may_be_pos_inf = can_overflow(sums.positive, in);
  result.may_be_neg_inf = can_overflow(sums.negative, in);
  result.may_be_nan = result.may_be_pos_inf && result.may_be_neg_inf;
  return result;
}

Admissible mean_of(Sums const& sums, int count, NumberFormat format) {
  auto const& in = facts_of(format);
  auto result = sums.nonfinite != 0 ? sum_of_nonfinite(sums, in) : sum_of_finite(sums, in);
  result.lo = rounded(result.lo / static_cast<float>(count), format);
  result.hi = rounded(result.hi / static_cast<float>(count), format);
  return result;
}

}  // namespace

int inputs_max(NumberFormat format) {
  return format == NumberFormat::fp32 ? fp32_inputs_max : 1 << significant_bits(format);
}

Admissible mean_bound(std::span<float const> inputs, NumberFormat format) {
  check(!inputs.empty(), "a mean needs a microbatch");
  check(std::ssize(inputs) <= inputs_max(format), "the bound holds for so many inputs");
  Sums sums;
  for (float const x : inputs) sums = plus(sums, x);
  return mean_of(sums, static_cast<int>(inputs.size()), format);
}

Admissible add_to(float older, Admissible const& mean, NumberFormat format) {
  if (std::isnan(older)) return only_nan();
  constexpr float inf = std::numeric_limits<float>::infinity();
  Admissible result{.may_be_nan = mean.may_be_nan};
  result.may_be_pos_inf = mean.may_be_pos_inf && older != -inf;
  result.may_be_neg_inf = mean.may_be_neg_inf && older != inf;
  result.may_be_nan |= mean.may_be_pos_inf && older == -inf;
  result.may_be_nan |= mean.may_be_neg_inf && older == inf;
  if (!mean.finite_possible) return result;
  float const largest = largest_finite(format);
  float const lo = rounded(older + mean.lo, format);
  float const hi = rounded(older + mean.hi, format);
  result.may_be_pos_inf |= hi == inf;
  result.may_be_neg_inf |= lo == -inf;
  result.finite_possible = lo != inf && hi != -inf;
  result.lo = std::clamp(lo, -largest, largest);
  result.hi = std::clamp(hi, -largest, largest);
  return result;
}

MeanBounds::MeanBounds(std::int64_t numel, NumberFormat format)
    : positive_(static_cast<std::size_t>(numel)),
      negative_(static_cast<std::size_t>(numel)),
      format_(format),
      nonfinite_(static_cast<std::size_t>(numel)) {}

std::int64_t MeanBounds::numel() const {
  return std::ssize(positive_);
}

void MeanBounds::add(std::span<float const> microbatch) {
  check(std::ssize(microbatch) == numel(), "a microbatch covers the tensor");
  check(count_ < inputs_max(format_), "the bound holds for so many inputs");
  ++count_;
  for (std::size_t i = 0; i < microbatch.size(); ++i) {
    auto const sums = plus({positive_[i], negative_[i], nonfinite_[i]}, microbatch[i]);
    positive_[i] = sums.positive;
    negative_[i] = sums.negative;
    nonfinite_[i] = sums.nonfinite;
  }
}

Admissible MeanBounds::at(std::int64_t index, int divisor) const {
  check(count_ >= 1, "a mean needs a microbatch");
  check(index >= 0 && index < numel(), "the index is in the tensor");
  auto const i = static_cast<std::size_t>(index);
  return mean_of({positive_[i], negative_[i], nonfinite_[i]}, divisor, format_);
}

}  // namespace adamant::oracle
