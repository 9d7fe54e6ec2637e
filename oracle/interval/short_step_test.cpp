#include "oracle/interval/short_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/interval/step_bounds.h"
#include "oracle/testing/random_values.h"

namespace adamant::oracle {
namespace {

constexpr NumberFormat short_formats[] = {NumberFormat::bf16, NumberFormat::fp16};

/// How the results of a step's operations are rounded, one digit of a number in base 3 each: not,
/// to binary32, or to the format.
class Roundings {
 public:
  Roundings(NumberFormat format, int choice) : format_(format), choice_(choice) {}
  static constexpr int all = 3 * 3 * 3 * 3;

  double operator()(double exact) {
    int const way = choice_ % 3;
    choice_ /= 3;
    auto const wide = static_cast<float>(exact);
    if (way == 0) return exact;
    return way == 1 ? wide : rounded(wide, format_);
  }

 private:
  NumberFormat format_;
  int choice_;
};

struct Numbers {
  double beta;
  double old;  // moment
  double gradient;
};

/// Results in every order, before the last rounding.
std::array<double, 2> first_moments(Numbers const& n, Roundings round) {
  Roundings again = round;
  double const kept = round(n.beta * n.old);
  double const sum = kept + round((1 - n.beta) * n.gradient);
  double const apart = again(n.gradient - n.old);
  double const lerp =
      n.beta >= 0.5 ? n.old + again((1 - n.beta) * apart) : n.gradient - again(n.beta * apart);
  return {sum, lerp};
}

std::array<double, 3> second_moments(Numbers const& n, Roundings round) {
  Roundings other = round;
  Roundings third = round;
  double const g = n.gradient;
  double const by_square = round(n.beta * n.old) + round((1 - n.beta) * round(g * g));
  double const by_factor = other(n.beta * n.old) + other(other((1 - n.beta) * g) * g);
  double const square = third(g * g);
  double const apart = third(square - n.old);
  double const lerp =
      n.beta >= 0.5 ? n.old + third((1 - n.beta) * apart) : square - third(n.beta * apart);
  return {by_square, by_factor, lerp};
}

Numbers numbers(RandomValues& random, NumberFormat format, int round) {
  constexpr float betas[] = {0.0F, 0.3F, 0.5F, 0.9F, 0.95F, 0.998F, 0.999F};
  auto const one = [&] { return static_cast<double>(rounded(random.scaled(-4, 3), format)); };
  return {.beta = betas[round % std::size(betas)], .old = one(), .gradient = one()};
}

void expect_inside(Range const& range, double value) {
  EXPECT_LE(range.lo, value);
  EXPECT_GE(range.hi, value);
}

TEST(ShortStep, HoldsEveryOrderOfOperationsHoweverEachIsRounded) {
  RandomValues random(11);
  for (NumberFormat const format : short_formats)
    for (int round = 0; round < 2000; ++round) {
      Numbers n = numbers(random, format, round);
      Range const gradient{n.gradient, n.gradient};
      ShortStep const step(format);
      Range const m = step.exp_avg(n.beta, n.old, gradient);
      for (int choice = 0; choice < Roundings::all; ++choice)
        for (double const value : first_moments(n, {format, choice})) expect_inside(m, value);
      n.old = std::abs(n.old);
      Range const v = step.exp_avg_sq(n.beta, n.old, gradient);
      for (int choice = 0; choice < Roundings::all; ++choice)
        for (double const value : second_moments(n, {format, choice})) expect_inside(v, value);
    }
}

TEST(ShortStep, HoldsL2DecayWithItsFactorRoundedOrNot) {
  RandomValues random(12);
  for (NumberFormat const format : short_formats)
    for (int round = 0; round < 2000; ++round) {
      Numbers const n = numbers(random, format, round);
      float const decay = std::abs(random.scaled(-8, 0));
      Range const range =
          ShortStep(format).decayed_gradient({n.gradient, n.gradient}, decay, n.old);
      for (double const factor : {decay, rounded(decay, format)})
        for (int choice = 0; choice < 9; ++choice) {
          Roundings rounds(format, choice);
          double const added = rounds(factor * n.old);
          expect_inside(range, rounds(n.gradient + added));
        }
    }
}

// The sums of errors of steps 3 and 4 are another derivation of the same orders.
TEST(ShortStep, LiesInsideOfWhatSumsOfErrorsGive) {
  RandomValues random(13);
  for (NumberFormat const format : short_formats)
    for (int round = 0; round < 20000; ++round) {
      Numbers const n = numbers(random, format, round);
      Range const gradient{n.gradient, n.gradient};
      double const u = std::ldexp(1.0, -significant_bits(format));
      double const eta = smallest_positive(format);
      auto const around = [&](Range const& range, double exact, double error) {
        EXPECT_GE(range.lo, exact - error);
        EXPECT_LE(range.hi, exact + error);
      };
      double const w = 1 - n.beta;
      double const first = n.beta * std::abs(n.old) + w * std::abs(n.gradient);
      double const all = std::abs(n.old) + std::abs(n.gradient);
      around(ShortStep(format).exp_avg(n.beta, n.old, gradient), n.beta * n.old + w * n.gradient,
             (2 * u * first + 0x1p-22 * all + 2 * eta) * (1 + 0x1p-5));
      double const v = std::abs(n.old);
      double const square = n.gradient * n.gradient;
      double const exact = n.beta * v + w * square;
      around(ShortStep(format).exp_avg_sq(n.beta, v, gradient), exact,
             (3 * u * exact + 0x1p-20 * (v + square) + 3 * eta) * (1 + 0x1p-5));
    }
}

/// The share of elements whose result lies outside, in percent, where a factor was rounded.
template <typename Outside>
int outside(Outside is_outside) {
  RandomValues random(14);
  constexpr int elements = 4000;
  int count = 0;
  for (int i = 0; i < elements; ++i) count += is_outside(random) ? 1 : 0;
  return count * 100 / elements;
}

/// v as PyTorch's foreach kernel makes it, or its single one where the factor is not rounded.
bool second_moment_is_outside(RandomValues& random, NumberFormat format, float beta, bool rounds) {
  float const g = rounded(random.scaled(-4, 0), format);
  float const v = rounded(std::abs(random.scaled(-6, 0)), format);
  float const kept = rounded((rounds ? rounded(beta, format) : beta) * v, format);
  float const after = rounded(std::fma((1.0F - beta) * g, g, kept), format);
  StepBounds const bounds(
      {.beta2 = beta}, 3,
      {.compute = format, .weight = format, .exp_avg = format, .exp_avg_sq = format});
  return !bounds.exp_avg_sq({.gradient = g, .exp_avg_sq = v}).contains(after);
}

bool weight_is_outside(RandomValues& random, NumberFormat format, float decay, bool rounds) {
  AdamConfig const config{.learning_rate = 0.0625F, .weight_decay = decay};
  float const p = rounded(random.scaled(-2, 0), format);
  float const v = rounded(1.0F, format);
  float const m = rounded(random.scaled(-14, -10), format);
  float const factor = 1.0F - 0.0625F * decay;
  float const kept = rounded((rounds ? rounded(factor, format) : factor) * p, format);
  float const root_c2 = std::sqrt(1.0F - 0.999F * 0.999F * 0.999F);
  float const d = rounded(rounded(1.0F / root_c2, format) + 1e-8F, format);
  float const size = 0.0625F / (1.0F - 0.9F * 0.9F * 0.9F);
  float const after = rounded(kept - size * m / d, format);
  StepBounds const bounds(
      config, 3, {.compute = format, .weight = format, .exp_avg = format, .exp_avg_sq = format});
  return !bounds.weight(p, m, v).contains(after);
}

TEST(ShortStep, DoesNotHoldFactorsThatAreRoundedToTheFormat) {
  for (float const beta : {0.4F, 0.9F, 0.95F, 0.998F}) {
    auto const share = [&](bool rounds) {
      return outside([&](RandomValues& random) {
        return second_moment_is_outside(random, NumberFormat::bf16, beta, rounds);
      });
    };
    EXPECT_EQ(share(false), 0) << beta;
    EXPECT_GE(share(true), 3) << beta;
  }
  for (float const decay : {0.16F, 0.8F}) {
    auto const share = [&](bool rounds) {
      return outside([&](RandomValues& random) {
        return weight_is_outside(random, NumberFormat::bf16, decay, rounds);
      });
    };
    EXPECT_EQ(share(false), 0) << decay;
    EXPECT_GE(share(true), 3) << decay;
  }
}

// 0.999 v rounds to v for every v in bf16, and so does v itself: who rounds the factor to 1 makes
// the same numbers.
TEST(ShortStep, HoldsAFactorOfWhichRoundingChangesNothing) {
  EXPECT_EQ(outside([](RandomValues& random) {
              return second_moment_is_outside(random, NumberFormat::bf16, 0.999F, true);
            }),
            0);
}

}  // namespace
}  // namespace adamant::oracle
