#include "scenarios/language/rounding_scale.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

LossScale fixed(float value) {
  return {.kind = LossScale::Kind::fixed, .value = value};
}

TEST(RoundingScale, PowersOfTwoKeepGradientsExactWhileThereIsRoom) {
  EXPECT_FALSE(scale_rounds({}, true));
  EXPECT_FALSE(scale_rounds(fixed(0x1p40F), false));
  EXPECT_TRUE(scale_rounds(fixed(0x1p40F), true));
  EXPECT_FALSE(scale_rounds(fixed(256.0F), true));
  EXPECT_TRUE(scale_rounds(fixed(1000.0F), false));
}

TEST(RoundingScale, ADynamicOneHasNoRoomInFp16) {
  EXPECT_FALSE(scale_rounds({.kind = LossScale::Kind::dynamic}, false));
  EXPECT_TRUE(scale_rounds({.kind = LossScale::Kind::dynamic}, true));
}

TEST(RoundingScale, EveryScaleOfTheProgramCounts) {
  Scenario scenario;
  scenario.params.push_back({.name = "p", .shape = {3}});
  scenario.optimizer.loss_scale = fixed(8.0F);
  EXPECT_FALSE(any_scale_rounds(scenario));
  Set set;
  set.change.loss_scale = fixed(0.1F);
  scenario.program.push_back({.action = set, .line = {}});
  EXPECT_TRUE(any_scale_rounds(scenario));
  scenario.program.clear();
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::dynamic};
  EXPECT_FALSE(any_scale_rounds(scenario));
  scenario.params.front().precision.grad = GradType::fp16;
  EXPECT_TRUE(any_scale_rounds(scenario));
}

}  // namespace
}  // namespace adamant::scenarios
