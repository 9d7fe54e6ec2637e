#include "oracle/torch/torch_step.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "oracle/compare/first_difference.h"
#include "oracle/golden/torch_adam.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

using torch_golden::Step;

float number(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

TorchStep::Before before(Step const& step, int i) {
  return {.gradient = number(step.gradient[i]),
          .weight = number(step.param[i]),
          .exp_avg = number(step.exp_avg[i]),
          .exp_avg_sq = number(step.exp_avg_sq[i])};
}

bool follows(Step const& step) {
  return step.format == NumberFormat::fp32 && std::string(step.kernel) != "fused";
}

/// Calls `look(step, stepper, element)` for every element of the kernels that are followed.
template <typename Look>
void for_each_element(Look look) {
  for (Step const& step : torch_golden::single_steps) {
    if (!follows(step)) continue;
    TorchStep const stepper(step.config, step.step);
    for (int i = 0; i < torch_golden::step_numel; ++i) look(step, stepper, i);
  }
}

TEST(TorchStep, MomentsArePyTorchsBitForBit) {
  int compared = 0;
  for_each_element([&](Step const& step, TorchStep const& stepper, int i) {
    auto const here = before(step, i);
    float const m = number(step.exp_avg_after[i]);
    float const v = number(step.exp_avg_sq_after[i]);
    EXPECT_TRUE(stepper.is_exp_avg(here, m))
        << step.name << ", element " << i << ": " << stepper.exp_avg(here) << " is not " << m;
    EXPECT_EQ(ulp_distance(stepper.exp_avg_sq(here), v), 0U) << step.name << ", element " << i;
    ++compared;
  });
  EXPECT_EQ(compared, 8 * torch_golden::step_numel);
}

TEST(TorchStep, TheWeightIsOneOfThoseThatARootLeavesOpen) {
  int single_valued = 0;
  int wide = 0;
  for_each_element([&](Step const& step, TorchStep const& stepper, int i) {
    auto const bound = stepper.weight(number(step.param[i]), number(step.exp_avg_after[i]),
                                      number(step.exp_avg_sq_after[i]));
    float const actual = number(step.param_after[i]);
    EXPECT_TRUE(bound.contains(actual)) << step.name << ", element " << i << ": " << actual
                                        << " is not in [" << bound.lo << ", " << bound.hi << "]";
    if (!bound.finite_possible) return;
    ++(bound.lo == bound.hi ? single_valued : wide);
    EXPECT_LE(ulp_distance(bound.lo, bound.hi), 8U) << step.name << ", element " << i;
  });
  EXPECT_GT(single_valued, 2 * wide);
}

// What the golden vectors can tell apart: without it, the equality above would say little.
TEST(TorchStep, ProductsThatRoundBeforeTheirSumAreNotPyTorchs) {
  int other_m = 0;
  int other_v = 0;
  for_each_element([&](Step const& step, TorchStep const&, int i) {
    if (step.config.mode == AdamMode::adam) return;
    auto const [g, p, m, v] = before(step, i);
    float const w1 = 1.0F - step.config.beta1;
    float const w2 = 1.0F - step.config.beta2;
    other_m += ulp_distance(m + w1 * (g - m), number(step.exp_avg_after[i])) != 0 ? 1 : 0;
    other_v +=
        ulp_distance(step.config.beta2 * v + w2 * g * g, number(step.exp_avg_sq_after[i])) != 0 ? 1
                                                                                                : 0;
  });
  EXPECT_GT(other_m, 10);
  EXPECT_GE(other_v, 3);  // most of v is beta2 v, which rounds alone
}

TEST(TorchStep, OnlyTheZeroOfABetaOfZeroHasEitherSign) {
  TorchStep const zero({.beta1 = 0.0F}, 1);
  TorchStep::Before const here{.gradient = -0.0F, .exp_avg = 2.0F};
  EXPECT_TRUE(zero.is_exp_avg(here, 0.0F));
  EXPECT_TRUE(zero.is_exp_avg(here, -0.0F));
  EXPECT_FALSE(zero.is_exp_avg(here, std::numeric_limits<float>::denorm_min()));
  TorchStep const usual({}, 1);
  EXPECT_FALSE(usual.is_exp_avg({.gradient = 0.0F, .exp_avg = 0.0F}, -0.0F));
}

TEST(TorchStep, ADecayOfZeroIsSkipped) {
  TorchStep const adam({.mode = AdamMode::adam, .weight_decay = 0.0F}, 1);
  EXPECT_EQ(adam.exp_avg({.gradient = 1.0F, .weight = inf}), 1.0F - 0.9F);
  TorchStep const adamw({.weight_decay = 0.0F}, 1);
  EXPECT_EQ(adamw.weight(inf, 1.0F, 1.0F), only(inf));
}

TEST(TorchStep, WhatIsNotFiniteGoesWhereTheFormulaTakesIt) {
  TorchStep const step({}, 3);
  EXPECT_EQ(step.exp_avg({.gradient = inf, .exp_avg = 1.0F}), inf);
  EXPECT_TRUE(std::isnan(step.exp_avg({.gradient = 1.0F, .exp_avg = inf})));
  EXPECT_EQ(step.exp_avg_sq({.gradient = -inf}), inf);
  EXPECT_EQ(step.weight(1.0F, nan, 1.0F), only_nan());
  EXPECT_EQ(step.weight(1.0F, 1.0F, -1.0F), only_nan());
  EXPECT_EQ(step.weight(1.0F, inf, 1.0F), only(-inf));
}

}  // namespace
}  // namespace adamant::oracle
