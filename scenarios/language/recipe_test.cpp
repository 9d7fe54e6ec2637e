#include "scenarios/language/recipe.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "oracle/quantise/recipes.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {
namespace {

TEST(Recipe, WhatAGroupDoesNotNameComesFromTheOptimizer) {
  Optimizer optimizer;
  optimizer.adam.learning_rate = 0.5F;
  std::vector<Group> const groups{{"slow", {.lr = 0.25F}},
                                  {"plain", {.betas = {{0.5F, 0.75F}}, .bias_correction = false}}};
  auto const configs = group_configs(optimizer, groups);
  ASSERT_EQ(configs.size(), 3U);
  EXPECT_EQ(configs[0], optimizer.adam);
  EXPECT_EQ(configs[1].learning_rate, 0.25F);
  EXPECT_EQ(configs[1].weight_decay, optimizer.adam.weight_decay);
  EXPECT_EQ(configs[2].learning_rate, 0.5F);
  EXPECT_EQ(configs[2].beta1, 0.5F);
  EXPECT_EQ(configs[2].beta2, 0.75F);
  EXPECT_FALSE(configs[2].bias_correction);
}

TEST(Recipe, AGroupsValueWinsOverALaterSet) {
  std::vector<Group> const groups{{"slow", {.lr = 0.25F}}};
  SettingsChange change;
  change.adam.lr = 2.0F;
  change.adam.eps = 1.0F;
  auto const configs = group_configs(with(Optimizer{}, change), groups);
  EXPECT_EQ(configs[0].learning_rate, 2.0F);
  EXPECT_EQ(configs[1].learning_rate, 0.25F);
  EXPECT_EQ(configs[1].epsilon, 1.0F);
}

TEST(Recipe, ASetCanSwitchClippingOnAndOff) {
  SettingsChange on;
  on.clip = Clip(1.0F);
  SettingsChange off;
  off.clip = Clip();
  Optimizer const clipped = with(Optimizer{}, on);
  EXPECT_EQ(clipped.clip, Clip(1.0F));
  EXPECT_EQ(with(clipped, off).clip, Clip());
  EXPECT_EQ(with(clipped, SettingsChange{}).clip, Clip(1.0F));
}

TEST(Recipe, AParametersOwnTypeReplacesTheRecipes) {
  Scenario scenario;
  scenario.precision.main = MainType::fp32;
  Param const param{.name = "w", .shape = {1}, .precision = {.param = ParamType::bf16}};
  EXPECT_EQ(scenario.precision_of(param).param, ParamType::bf16);
  EXPECT_EQ(scenario.precision_of(param).main, MainType::fp32);
}

// Admission and the oracle each know which matrices a recipe takes.
TEST(Recipe, TakesWhatTheOracleQuantises) {
  constexpr std::pair<ParamType, Recipe> recipes[] = {{ParamType::fp8_delayed, Recipe::fp8_delayed},
                                                      {ParamType::fp8_current, Recipe::fp8_current},
                                                      {ParamType::fp8_block, Recipe::fp8_block},
                                                      {ParamType::mxfp8, Recipe::mxfp8},
                                                      {ParamType::nvfp4, Recipe::nvfp4}};
  for (auto const& [type, recipe] : recipes)
    for (std::int64_t const rows : {0, 1, 16, 24, 32, 128, 192})
      for (std::int64_t const columns : {0, 5, 16, 32, 64, 128, 256}) {
        std::int64_t const shape[] = {rows, columns};
        EXPECT_EQ(takes(type, shape), oracle::takes(recipe, {.rows = rows, .columns = columns}))
            << name_of(recipe) << ' ' << rows << ' ' << columns;
      }
  EXPECT_FALSE(takes(ParamType::fp8_current, std::array<std::int64_t, 1>{4}));
  EXPECT_TRUE(takes(ParamType::nvfp4, std::array<std::int64_t, 3>{2, 8, 16}));
}

TEST(Recipe, OperationsInsideACaptureCount) {
  std::vector<Operation> const program{
      {Train{2}, {}}, {Capture{{{Backward{}, {}}, {Step{}, {}}}}, {}}, {Replay{3}, {}}};
  EXPECT_EQ(operation_count(program), 5);
  EXPECT_EQ(word_of(program[1].action), "capture");
  EXPECT_EQ(word_of(Check{}), "check");
}

}  // namespace
}  // namespace adamant::scenarios
