#include "oracle/interval/step_bounds.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <sstream>
#include <string>

#include "oracle/adam/adam_step.h"
#include "oracle/formats/formats.h"
#include "oracle/golden/torch_adam.h"
#include "oracle/interval/testing/orders.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

using Before = StepBounds::Before;

StepFormats all_in(NumberFormat format) {
  return {.compute = format, .weight = format, .exp_avg = format, .exp_avg_sq = format};
}

std::string text_of(Admissible const& set) {
  std::ostringstream text;
  text << "not in [" << set.lo << ", " << set.hi << "]";
  if (set.may_be_nan) text << " or nan";
  if (set.may_be_pos_inf) text << " or inf";
  if (set.may_be_neg_inf) text << " or -inf";
  return text.str();
}

/// Ordinary numbers of a layer: weights of 0.02, gradients of 0.001, moments that belong to them.
/// In fp16, which has no 1e-9, gradients a thousand times as large.
Before ordinary(RandomValues& random, NumberFormat format) {
  auto const one = [&] { return random.scaled(0, 0) + 0.5F * random.scaled(0, 0); };
  float const size = format == NumberFormat::fp16 ? 1.0F : 1e-3F;
  return {.gradient = rounded(size * one(), format),
          .weight = rounded(0.02F * one(), format),
          .exp_avg = rounded(0.3F * size * one(), format),
          .exp_avg_sq = rounded(1e-3F * size * size * (0.5F + std::abs(one())), format)};
}

Before anything(RandomValues& random) {
  auto const one = [&] { return random.below(4) == 0 ? random.finite() : random.scaled(-140, 60); };
  return {.gradient = one(), .weight = one(), .exp_avg = one(), .exp_avg_sq = std::abs(one())};
}

void expect_inside(StepBounds const& bounds, Before const& before, Stepped const& after,
                   char const* what) {
  auto const m = bounds.exp_avg(before);
  auto const v = bounds.exp_avg_sq(before);
  auto const p = bounds.weight(before.weight, after.exp_avg, after.exp_avg_sq);
  EXPECT_TRUE(m.contains(after.exp_avg)) << what << ": m " << after.exp_avg << " " << text_of(m);
  EXPECT_TRUE(v.contains(after.exp_avg_sq))
      << what << ": v " << after.exp_avg_sq << " " << text_of(v);
  EXPECT_TRUE(p.contains(after.weight))
      << what << ": p " << after.weight << " " << text_of(p) << " from " << before.weight;
}

float number(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

Before before(torch_golden::Step const& step, int i) {
  return {number(step.gradient[i]), number(step.param[i]), number(step.exp_avg[i]),
          number(step.exp_avg_sq[i])};
}

Stepped after(torch_golden::Step const& step, int i) {
  return {number(step.param_after[i]), number(step.exp_avg_after[i]),
          number(step.exp_avg_sq_after[i])};
}

bool rounds_its_factors(torch_golden::Step const& step) {
  return step.format != NumberFormat::fp32 && std::string(step.kernel) == "foreach";
}

TEST(StepBounds, HoldPyTorchsKernelsInEveryFormat) {
  for (auto const& step : torch_golden::single_steps) {
    if (rounds_its_factors(step)) continue;
    StepBounds const bounds(step.config, step.step, all_in(step.format));
    for (int i = 0; i < torch_golden::step_numel; ++i)
      expect_inside(bounds, before(step, i), after(step, i), step.name);
  }
}

// 1 - lr decay, and beta2; the first moment's lerp keeps its factor.
TEST(StepBounds, DoNotHoldForeachStepsInShortFormatsWhichRoundTheirFactors) {
  for (auto const& step : torch_golden::single_steps) {
    if (!rounds_its_factors(step)) continue;
    StepBounds const bounds(step.config, step.step, all_in(step.format));
    int outside = 0;
    for (int i = 0; i < torch_golden::step_numel; ++i) {
      Stepped const now = after(step, i);
      bool const inside =
          bounds.exp_avg_sq(before(step, i)).contains(now.exp_avg_sq) &&
          bounds.weight(number(step.param[i]), now.exp_avg, now.exp_avg_sq).contains(now.weight);
      EXPECT_TRUE(bounds.exp_avg(before(step, i)).contains(now.exp_avg)) << step.name;
      outside += inside ? 0 : 1;
    }
    EXPECT_GE(outside, 1) << step.name;
  }
}

TEST(StepBounds, HoldEveryOrderOfOperations) {
  RandomValues random(5);
  for (AdamMode const mode : {AdamMode::adamw, AdamMode::adam}) {
    for (int round = 0; round < 3000; ++round) {
      AdamConfig const config{.mode = mode,
                              .learning_rate = std::abs(random.scaled(-12, 0)),
                              .beta1 = round % 3 == 0 ? 0.3F : 0.9F,
                              .beta2 = round % 5 == 0 ? 0.4F : 0.999F,
                              .epsilon = round % 2 == 0 ? 1e-8F : 1e-3F,
                              .weight_decay = round % 4 == 0 ? 0.0F : 0.1F};
      auto const t = static_cast<std::int64_t>(1 + random.below(20));
      StepBounds const bounds(config, t, {});
      Before const before = round % 2 == 0 ? ordinary(random, {}) : anything(random);
      for (Order const& order : orders)
        expect_inside(bounds, before, order.step(config, t, before), order.name);
    }
  }
}

// Without an epsilon that hides them: second moments, what corrects them, and numerators.
TEST(StepBounds, HoldEveryOrderWhereNumbersOnTheWayAreSubnormal) {
  RandomValues random(9);
  for (float const rate : {1e-3F, 1.0F, 1e10F})
    for (float const epsilon : {0.0F, 1e-30F})
      for (int round = 0; round < 2000; ++round) {
        AdamConfig const config{.mode = round % 2 == 0 ? AdamMode::adamw : AdamMode::adam,
                                .learning_rate = rate,
                                .epsilon = epsilon,
                                .weight_decay = round % 4 < 2 ? 0.0F : 0.01F};
        auto const t = static_cast<std::int64_t>(1 + random.below(20));
        Before before{.gradient = random.scaled(-76, -56), .weight = random.scaled(-9, -5)};
        if (round % 3 != 0) before.exp_avg = random.scaled(-149, -70);
        if (round % 3 == 2) before.exp_avg_sq = std::abs(random.scaled(-149, -120));
        for (Order const& order : orders) {
          bool const vanishes = rate > 1.0F && std::string(order.name) == "capturable";
          if (vanishes) continue;  // its denominator is what D is over the rate
          expect_inside(StepBounds(config, t, {}), before, order.step(config, t, before),
                        order.name);
        }
      }
}

TEST(StepBounds, HoldTheOraclesOwnStepWithMomentsThatAreStoredShort) {
  RandomValues random(6);
  StepFormats const formats{.exp_avg = NumberFormat::bf16, .exp_avg_sq = NumberFormat::bf16};
  for (int round = 0; round < 3000; ++round) {
    auto const t = static_cast<std::int64_t>(1 + random.below(20));
    StepBounds const bounds({}, t, formats);
    Before before = ordinary(random, {});
    before.exp_avg = rounded(before.exp_avg, NumberFormat::bf16);
    before.exp_avg_sq = rounded(before.exp_avg_sq, NumberFormat::bf16);
    Stepped after{before.weight, before.exp_avg, before.exp_avg_sq};
    adam_step({}, t, std::span(&before.gradient, 1), std::span(&after.weight, 1),
              std::span(&after.exp_avg, 1), std::span(&after.exp_avg_sq, 1));
    after.exp_avg = rounded(after.exp_avg, NumberFormat::bf16);
    after.exp_avg_sq = rounded(after.exp_avg_sq, NumberFormat::bf16);
    expect_inside(bounds, before, after, "bf16 moments");
  }
}

/// The share of ordinary elements of which a mistake is seen, in percent.
int seen(Mistake const& mistake, std::int64_t t, NumberFormat format) {
  RandomValues random(7);
  StepBounds const bounds(mistake.asked, t, all_in(format));
  constexpr int elements = 2000;
  int outside = 0;
  for (int i = 0; i < elements; ++i) {
    Before const before = ordinary(random, format);
    Stepped after = mistake.step(mistake.asked, t, before);
    after = {rounded(after.weight, format), rounded(after.exp_avg, format),
             rounded(after.exp_avg_sq, format)};
    bool const inside =
        bounds.exp_avg(before).contains(after.exp_avg) &&
        bounds.exp_avg_sq(before).contains(after.exp_avg_sq) &&
        bounds.weight(before.weight, after.exp_avg, after.exp_avg_sq).contains(after.weight);
    outside += inside ? 0 : 1;
  }
  return outside * 100 / elements;
}

TEST(StepBounds, DoNotHoldWrongFormulas) {
  for (Mistake const& mistake : mistakes)
    for (std::int64_t const t : {1, 3, 20})
      EXPECT_GE(seen(mistake, t, NumberFormat::fp32), 97) << mistake.name << ", step " << t;
}

// Where every result is rounded to 8 bits, the rounding hides small mistakes of single elements,
// but a tensor has many.
TEST(StepBounds, DoNotHoldWrongFormulasInShortFormatsEither) {
  for (Mistake const& mistake : mistakes) {
    if (!mistake.shows_in_short_formats) continue;
    EXPECT_GE(seen(mistake, 3, NumberFormat::bf16), 10) << mistake.name;
    EXPECT_GE(seen(mistake, 3, NumberFormat::fp16), 10) << mistake.name;
  }
}

TEST(StepBounds, AreAFewStepsWideInFp32) {
  RandomValues random(8);
  StepBounds const bounds({}, 3, {});
  for (int i = 0; i < 2000; ++i) {
    Before const before = ordinary(random, {});
    auto const after = orders[0].step({}, 3, before);
    auto const p = bounds.weight(before.weight, after.exp_avg, after.exp_avg_sq);
    double const step = std::nextafter(std::abs(after.weight), inf) - std::abs(after.weight);
    double const update = std::abs(after.weight - before.weight);
    EXPECT_LE(static_cast<double>(p.hi) - p.lo, 5 * step + 0x1p-18 * update);
  }
}

TEST(StepBounds, AnInfinityStaysOneOrBecomesNaN) {
  StepBounds const bounds({}, 3, {});
  Admissible const plus{.may_be_nan = true, .may_be_pos_inf = true};
  Admissible const minus{.may_be_nan = true, .may_be_neg_inf = true};
  EXPECT_EQ(bounds.exp_avg({.gradient = inf}), plus);
  EXPECT_EQ(bounds.exp_avg({.gradient = -inf}), minus);
  EXPECT_EQ(bounds.exp_avg({.gradient = -inf, .exp_avg = inf}), only_nan());
  EXPECT_EQ(bounds.exp_avg_sq({.gradient = -inf}), plus);
  EXPECT_EQ(bounds.exp_avg({.gradient = NAN}), only_nan());
  EXPECT_EQ(bounds.weight(inf, 1.0F, 1.0F), plus);
  EXPECT_EQ(bounds.weight(1.0F, 1.0F, NAN), only_nan());
  EXPECT_EQ(bounds.weight(1.0F, 1.0F, -1.0F), only_nan());
  auto const held = bounds.weight(1.0F, 1.0F, inf);
  EXPECT_TRUE(held.contains(1.0F - 1e-5F));
  EXPECT_FALSE(held.contains(0.999F));
}

TEST(StepBounds, ADenominatorOfZeroLeavesNothingFiniteBelowTheUpdate) {
  StepBounds const bounds({.epsilon = 0.0F, .weight_decay = 0.0F}, 1, {});
  EXPECT_TRUE(bounds.weight(1.0F, 1.0F, 0.0F).contains(-inf));
  EXPECT_FALSE(bounds.weight(1.0F, 1.0F, 0.0F).contains(inf));
  EXPECT_TRUE(bounds.weight(1.0F, 0.0F, 0.0F).contains(NAN));
}

TEST(StepBounds, OverflowOnTheWayIsAdmitted) {
  StepBounds const bounds({}, 1, {});
  auto const v = bounds.exp_avg_sq({.gradient = 3e19F});  // g g passes 2^128, 0.001 g g does not
  EXPECT_TRUE(v.contains(inf));
  EXPECT_TRUE(v.contains((1.0F - 0.999F) * 3e19F * 3e19F));
  EXPECT_FALSE(bounds.exp_avg_sq({.gradient = 1e18F}).contains(inf));
}

TEST(StepBounds, DecayThatOverflowsBeforeTheUpdateIsAdmitted) {
  StepFormats const fp16{NumberFormat::fp16, NumberFormat::fp16, NumberFormat::fp16,
                         NumberFormat::fp16};
  // (1 - 1e8) p is infinite in fp16, and the update of -7e11 then changes nothing.
  StepBounds const bounds({.learning_rate = 1e10F}, 1, fp16);
  auto const p = bounds.weight(-0.046417236F, 0.1273F, 0.001621F);
  EXPECT_TRUE(p.contains(inf));
  EXPECT_TRUE(p.contains(-inf)) << "where decay is subtracted later";
  EXPECT_FALSE(p.contains(1.0F));
  StepBounds const moderate({.learning_rate = 1.0F}, 1, fp16);
  EXPECT_FALSE(moderate.weight(-0.046417236F, 0.1273F, 0.001621F).contains(inf));
}

}  // namespace
}  // namespace adamant::oracle
