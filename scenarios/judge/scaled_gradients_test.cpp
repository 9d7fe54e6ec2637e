// Verdicts on what clipping and a loss scale make of gradients where they lie, in worlds with an
// arithmetic of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "scenarios/judge/testing/judged_run.h"

namespace adamant::scenarios {
namespace {

Scenario clipped(float max_norm, LossScale const& loss_scale) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = max_norm;
  scenario.optimizer.loss_scale = loss_scale;
  scenario.program = {operation(Train{2}), operation(Overflow{}), operation(Train{2}),
                      operation(Check{})};
  if (loss_scale.kind == LossScale::Kind::none)
    scenario.program.erase(scenario.program.begin() + 1);
  return scenario;
}

constexpr LossScale dynamic = {.kind = LossScale::Kind::dynamic};

TEST(ScaledGradients, ClippingAndUnscalingInPlacePass) {
  for (float const max_norm : {0.5F, 1000.0F})
    for (LossScale const& scale :
         {LossScale{}, dynamic, LossScale{.kind = LossScale::Kind::fixed, .value = 1024.0F}}) {
      Judged const run(clipped(max_norm, scale), torch_on(4));
      EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
      Judged const any_order(clipped(max_norm, scale), any_order_on(4));
      EXPECT_EQ(any_order.first_law(), std::nullopt) << text_of(any_order);
    }
}

// PyTorch's fused kernel divides by the scale; GradScaler multiplies by a reciprocal. Of a scale
// that is no power of two they make other numbers, and of a skipped step either leaves what it
// leaves.
TEST(ScaledGradients, WhatUndoesTheScaleIsHeldToItsWay) {
  LossScale const thousand{.kind = LossScale::Kind::fixed, .value = 1000.0F};
  StandInWorld::Traits fused = torch_on(4);
  fused.says = Arithmetic::torch_fused;
  fused.unscales_in_step = true;
  for (LossScale const& scale : {LossScale{}, dynamic, thousand}) {
    Scenario scenario = clipped(0.5F, scale);
    Judged const clips(scenario, fused);
    EXPECT_EQ(clips.first_law(), std::nullopt) << text_of(clips);
    scenario.optimizer.clip.reset();
    scenario.program.push_back(operation(Backward{}));
    scenario.program.push_back(operation(Step{}));
    Judged const run(scenario, fused);
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    if (scale.kind == LossScale::Kind::none) continue;
    StandInWorld::Traits claims = fused;
    claims.says = Arithmetic::torch;
    EXPECT_EQ(Judged(scenario, claims).first_law(), Law::values_bitwise);
    claims = torch_on(4);
    claims.says = Arithmetic::torch_fused;
    EXPECT_EQ(Judged(scenario, claims).first_law(), Law::values_bitwise);
  }
}

// To their own type, which then moves them far more than a step of fp32 does.
TEST(ScaledGradients, WhatUndoesTheScaleMayRoundToTheTypeOfGradients) {
  for (float const value : {1024.0F, 1000.0F}) {
    Scenario scenario = clipped(0.5F, {.kind = LossScale::Kind::fixed, .value = value});
    scenario.optimizer.clip.reset();
    scenario.precision = {.param = ParamType::bf16, .grad = GradType::bf16};
    Judged const run(scenario, any_order_on(2));
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
  }
}

TEST(ScaledGradients, ASkippedStepOfAKernelThatUnscalesChangesNothing) {
  StandInWorld::Traits traits = torch_on(4);
  traits.says = Arithmetic::torch_fused;
  traits.unscales_in_step = true;
  Scenario scenario = scenario_for();
  scenario.optimizer.loss_scale = dynamic;
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(Step{}),
                      operation(Check{})};
  EXPECT_EQ(Judged(scenario, traits).first_law(), std::nullopt);
  for (auto const tensor : {&StandInWorld::Tensors::gradient, &StandInWorld::Tensors::exp_avg,
                            &StandInWorld::Tensors::exp_avg_sq, &StandInWorld::Tensors::weight}) {
    Tamper const consumes = [tensor](StandInWorld& world, int entry) {
      auto& values = world.at(1).*tensor;
      for (float& x : values) x = entry == 2 ? (x + 0x1p-10F) / 65536.0F : x;
    };
    EXPECT_EQ(Judged(scenario, traits, consumes).first_law(), Law::values_bitwise);
  }
}

TEST(ScaledGradients, ANormThatIsNoNumberReachesWhatIsClippedInAnyArithmetic) {
  Scenario scenario = clipped(0.5F, {});
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(ClipNorm{}),
                      operation(ClipNorm{})};  // an infinity times 0, and then the norm of that
  for (StandInWorld::Traits const& traits : {torch_on(2), any_order_on(2)}) {
    int overflowed = 0;
    auto const count = [&](StandInWorld& world, int) {
      overflowed += std::isnan(world.scaling(0).norm) ? 1 : 0;
    };
    Judged const run(scenario, traits, count);
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    EXPECT_GT(overflowed, 0);
  }
}

TEST(ScaledGradients, AnEngineMayClipInItsStepInstead) {
  StandInWorld::Traits traits = any_order_on(4);
  traits.clips_in_place = false;
  Judged const run(clipped(0.5F, {}), traits);
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
  traits.says = Arithmetic::torch;
  EXPECT_NE(Judged(clipped(0.5F, {}), traits).first_law(), std::nullopt);
}

TEST(ScaledGradients, AClipInTheStepMayHaveAFactorInFp32) {
  StandInWorld::Traits traits = any_order_on(2);
  traits.clips_in_place = false;
  Tamper const wrong = [](StandInWorld& world, int entry) {
    for (float& m : world.at(0).exp_avg) m *= entry == 2 ? 1.05F : 1.0F;
  };
  for (Precision const& precision : {Precision{.param = ParamType::bf16, .grad = GradType::bf16},
                                     Precision{.param = ParamType::fp16, .grad = GradType::fp16}})
    for (float const limit : {0.37F, 1e-12F}) {  // the latter is zero in fp16
      Scenario scenario = clipped(limit, {});
      scenario.precision = precision;
      scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
      Judged const run(scenario, traits);
      EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
      EXPECT_EQ(Judged(scenario, traits, wrong).first_law(), Law::values_interval);
    }
}

float divided_once(float max_norm, float norm) {
  return std::min(max_norm / (norm + 1e-6F), 1.0F);
}
float divided_in_binary64(float max_norm, float norm) {
  return static_cast<float>(std::min(max_norm / (norm + 1e-6), 1.0));
}

// Limits that are no powers of two: a quotient, and a reciprocal times the limit, are two numbers.
TEST(ScaledGradients, AnyWayToTheFactorPassesInPlaceAndInTheStep) {
  LossScale const thousand{.kind = LossScale::Kind::fixed, .value = 1000.0F};
  for (ClipFactor const& factor :
       {ClipFactor(divided_once), ClipFactor(divided_in_binary64), ClipFactor(factor_as_torch)})
    for (bool const in_place : {true, false})
      for (float const limit : {0.3F, 0.1F, 0.7F, 0.0123F})
        for (LossScale const& scale : {LossScale{}, thousand}) {
          StandInWorld::Traits traits = any_order_on(2);
          traits.clips_in_place = in_place;
          traits.clip_factor = factor;
          Judged const run(clipped(limit, scale), traits);
          EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
        }
}

double not_rounded(float max_norm, float norm) {
  return std::min(static_cast<double>(max_norm) / (static_cast<double>(norm) + 1e-6), 1.0);
}

// In fp32 such a factor is zero, or a few bits of it are left. The gradient is none of this.
TEST(ScaledGradients, AFactorBelowWhatItsTypeHoldsPassesAsItIs) {
  for (bool const in_place : {true, false})
    for (float const limit : {1e-12F, 1e-15F, 3e-18F}) {
      StandInWorld::Traits traits = any_order_on(2);
      traits.clips_in_place = in_place;
      for (ClipFactor const& factor :
           {ClipFactor(not_rounded), ClipFactor(divided_once), ClipFactor(factor_as_torch)}) {
        traits.clip_factor = factor;
        traits.gradients = limit < 1e-17F ? 0x1p62F : 0x1p60F;
        Judged const run(clipped(limit * 0x1p-70F, {}), traits);
        EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
      }
    }
}

// Unscaled by themselves they would lose digits that one product keeps.
TEST(ScaledGradients, OneProductMayClipAndUnscaleSubnormalGradients) {
  StandInWorld::Traits traits = any_order_on(2);
  traits.clips_in_one_product = true;
  traits.gradients = 0x1p-138F;
  traits.clip_factor = not_rounded;
  for (float const limit : {3e-7F, 5e-7F, 7e-7F}) {
    LossScale const scale{.kind = LossScale::Kind::fixed, .value = 0x1p16F};
    Scenario scenario = clipped(limit, scale);
    scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Check{})};
    Judged const run(scenario, traits);
    EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
    Tamper const wrong = [](StandInWorld& world, int entry) {
      for (float& g : world.at(0).gradient) g *= entry == 1 ? 1.05F : 1.0F;
    };
    EXPECT_EQ(Judged(scenario, traits, wrong).first_law(), Law::values_interval);
  }
}

TEST(ScaledGradients, WhatIsAddedMayBeRoundedToItsTypeAfterTheSumAlone) {
  Scenario scenario = scenario_for(GradientClass::exact);
  scenario.precision = {.param = ParamType::bf16};
  scenario.program = {operation(Backward{}), operation(Backward{}), operation(Check{})};
  StandInWorld::Traits traits = any_order_on(2);
  traits.gradients = 1.01F;
  Judged const run(scenario, traits);
  EXPECT_EQ(run.first_law(), std::nullopt) << text_of(run);
}

TEST(ScaledGradients, AFactorBeyondFourRoundingsIsSeenInTheStepToo) {
  for (bool const in_place : {true, false}) {
    StandInWorld::Traits traits = any_order_on(2);
    traits.clips_in_place = in_place;
    traits.clip_factor = [](float max_norm, float norm) {
      return divided_once(max_norm, norm) * (1.0F + 0x1p-18F);
    };
    Judged const run(clipped(0.3F, {}), traits);
    EXPECT_EQ(run.first_law(), Law::values_interval) << text_of(run);
  }
}

TEST(ScaledGradients, AProductMayHaveMoreRoundingsWhereTheScaleRounds) {
  StandInWorld::Traits traits = any_order_on(2);
  traits.clips_in_one_product = true;
  traits.clip_factor = [](float max_norm, float norm) {
    return not_rounded(max_norm, norm) * (1 + 5 * 0x1p-24);
  };
  for (float const value : {1024.0F, 1000.0F}) {
    Judged const run(clipped(0.3F, {.kind = LossScale::Kind::fixed, .value = value}), traits);
    EXPECT_EQ(run.first_law().has_value(), value == 1024.0F) << text_of(run);
  }
}

TEST(ScaledGradients, AWrongNormAndAWrongFactorAreSeen) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = 0.5F;
  scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
  Tamper const norm = [](StandInWorld& world, int entry) {
    if (entry == 1) world.scaling().norm *= 1.01F;
  };
  EXPECT_EQ(Judged(scenario, torch_on(4), norm).first_law(), Law::values_interval);
  Tamper const factor = [](StandInWorld& world, int entry) {
    for (float& g : world.at(0).gradient) g *= entry == 1 ? 1.0F + 0x1p-20F : 1.0F;
  };
  EXPECT_EQ(Judged(scenario, torch_on(4), factor).first_law(), Law::values_bitwise);
  EXPECT_EQ(Judged(scenario, any_order_on(4), factor).first_law(), Law::values_interval);
}

TEST(ScaledGradients, ANormThatIsNoNumberReachesAllGradientsInEveryArithmetic) {
  Scenario scenario = scenario_for();
  scenario.optimizer.clip = 0.5F;
  scenario.program = {operation(Backward{}), operation(ClipNorm{}), operation(Step{})};
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry != 1) return;
    world.scaling().norm = NAN;
    for (int p = 0; p < 5; ++p)
      for (float& g : world.at(p).gradient) g = NAN;
  };
  // The gradients had a norm: that alone is what is wrong.
  for (auto const& traits : {torch_on(4), any_order_on(4)}) {
    Judged const run(scenario, traits, tamper);
    ASSERT_EQ(run.violations().size(), 1U) << text_of(run);
    EXPECT_EQ(run.violations().front().subject, Subject(ScalingNumber::norm));
  }
}

TEST(ScaledGradients, AStepThatShouldHaveBeenSkippedIsSeen) {
  Scenario scenario = clipped(0.5F, dynamic);
  Tamper const tamper = [](StandInWorld& world, int entry) {
    if (entry == 2) world.scaling().skipped = false;
  };
  EXPECT_EQ(Judged(scenario, torch_on(4), tamper).first_law(), Law::values_bitwise);
}

}  // namespace
}  // namespace adamant::scenarios
