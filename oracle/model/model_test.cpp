#include "oracle/model/model.h"

#include <gtest/gtest.h>

#include <vector>

#include "oracle/adam/adam_step.h"

namespace adamant::oracle {
namespace {

using Values = std::vector<float>;

Values copy(std::span<float const> values) {
  return {values.begin(), values.end()};
}

/// Two parameters in a group each: `w` with 3 elements and `b` with 1.
Model two_parameters(StepCounter step_counter = StepCounter::group) {
  Model model({.parameters = {{.name = "w", .shape = {3}, .group = 0},
                              {.name = "b", .shape = {1}, .group = 1}},
               .groups = {AdamConfig{}, AdamConfig{.weight_decay = 0.0F}},
               .step_counter = step_counter});
  model.write_parameter(0, 0, Values{1.0F, -2.0F, 0.5F});
  model.write_parameter(1, 0, Values{4.0F});
  return model;
}

/// One parameter's tensors, stepped by hand.
struct ByHand {
  Values g, p, m, v;
  void step(AdamConfig const& config, std::int64_t t) { adam_step(config, t, g, p, m, v); }
};

void expect_state(Model const& model, int parameter, ByHand const& expected) {
  EXPECT_EQ(copy(model.tensor(parameter, TensorKind::parameter)), expected.p);
  EXPECT_EQ(copy(model.tensor(parameter, TensorKind::exp_avg)), expected.m);
  EXPECT_EQ(copy(model.tensor(parameter, TensorKind::exp_avg_sq)), expected.v);
}

TEST(Model, StartsWithoutGradientsMomentsAndSteps) {
  auto const model = two_parameters();
  expect_state(model, 0, {{}, {1.0F, -2.0F, 0.5F}, Values(3), Values(3)});
  EXPECT_FALSE(model.has_gradient(0));
  EXPECT_TRUE(model.tensor(0, TensorKind::gradient).empty());
  EXPECT_EQ(model.step_count(0), 0);
}

TEST(Model, StepUsesEachGroupsOwnSettings) {
  auto model = two_parameters();
  model.add_gradient(0, Values{0.5F, 0.25F, -1.0F});
  model.add_gradient(1, Values{2.0F});
  model.step();
  ByHand w{{0.5F, 0.25F, -1.0F}, {1.0F, -2.0F, 0.5F}, Values(3), Values(3)};
  ByHand b{{2.0F}, {4.0F}, {0.0F}, {0.0F}};
  w.step(AdamConfig{}, 1);
  b.step(AdamConfig{.weight_decay = 0.0F}, 1);
  expect_state(model, 0, w);
  expect_state(model, 1, b);
}

TEST(Model, SettingAGroupChangesTheNextStep) {
  auto model = two_parameters();
  model.set_group(1, {.learning_rate = 0.5F});
  model.add_gradient(1, Values{2.0F});
  model.step();
  ByHand b{{2.0F}, {4.0F}, {0.0F}, {0.0F}};
  b.step({.learning_rate = 0.5F}, 1);
  expect_state(model, 1, b);
  EXPECT_EQ(model.group(0), AdamConfig{});
}

TEST(Model, TwoBackwardsAddUp) {
  auto model = two_parameters();
  model.add_gradient(1, Values{0.1F});
  model.add_gradient(1, Values{0.7F});
  EXPECT_EQ(copy(model.tensor(1, TensorKind::gradient)), Values{0.1F + 0.7F});
}

TEST(Model, ObservedGradientsReplaceTheOlderOne) {
  auto model = two_parameters();
  model.add_gradient(1, Values{0.1F});
  model.set_gradient(1, Values{0.7F});
  EXPECT_EQ(copy(model.tensor(1, TensorKind::gradient)), Values{0.7F});
}

TEST(Model, AStepDoesNotConsumeTheGradient) {
  auto model = two_parameters();
  model.add_gradient(1, Values{2.0F});
  model.step();
  model.step();
  ByHand b{{2.0F}, {4.0F}, {0.0F}, {0.0F}};
  b.step({.weight_decay = 0.0F}, 1);
  b.step({.weight_decay = 0.0F}, 2);
  expect_state(model, 1, b);
  EXPECT_TRUE(model.has_gradient(1));
}

TEST(Model, WithoutGradientWeightAndMomentsStay) {
  auto model = two_parameters();
  model.add_gradient(0, Values{1.0F, 1.0F, 1.0F});
  model.step();
  expect_state(model, 1, {{}, {4.0F}, {0.0F}, {0.0F}});
}

TEST(Model, ZeroGradToNoneTakesGradientsAway) {
  auto model = two_parameters();
  model.add_gradient(0, Values{1.0F, 1.0F, 1.0F});
  model.zero_grad(true);
  EXPECT_FALSE(model.has_gradient(0));
  EXPECT_TRUE(model.tensor(0, TensorKind::gradient).empty());
  model.add_gradient(0, Values{3.0F, 3.0F, 3.0F});
  EXPECT_EQ(copy(model.tensor(0, TensorKind::gradient)), Values(3, 3.0F));
}

TEST(Model, ZeroGradWithZerosLetsTheNextStepDecay) {
  auto model = two_parameters();
  model.zero_grad(false);
  EXPECT_TRUE(model.has_gradient(0));
  EXPECT_EQ(copy(model.tensor(0, TensorKind::gradient)), Values(3));
  model.step();
  ByHand w{Values(3), {1.0F, -2.0F, 0.5F}, Values(3), Values(3)};
  w.step(AdamConfig{}, 1);
  expect_state(model, 0, w);
  EXPECT_LT(model.tensor(0, TensorKind::parameter)[0], 1.0F);
}

TEST(Model, GroupCountersAdvanceWithEveryStep) {
  auto model = two_parameters(StepCounter::group);
  model.step();
  EXPECT_EQ(model.step_count(0), 1);
  model.add_gradient(1, Values{2.0F});
  model.step();
  EXPECT_EQ(model.step_count(0), 2);
  ByHand b{{2.0F}, {4.0F}, {0.0F}, {0.0F}};
  b.step({.weight_decay = 0.0F}, 2);
  expect_state(model, 1, b);
}

TEST(Model, ParameterCountersAdvanceWithTheirGradients) {
  auto model = two_parameters(StepCounter::parameter);
  model.step();
  EXPECT_EQ(model.step_count(1), 0);
  model.add_gradient(1, Values{2.0F});
  model.step();
  EXPECT_EQ(model.step_count(0), 0);
  EXPECT_EQ(model.step_count(1), 1);
  ByHand b{{2.0F}, {4.0F}, {0.0F}, {0.0F}};
  b.step({.weight_decay = 0.0F}, 1);
  expect_state(model, 1, b);
}

TEST(Model, EmptyParametersHaveGradientsAndCountersToo) {
  Model model({.parameters = {{.name = "e", .shape = {0, 4}}},
               .groups = {AdamConfig{}},
               .step_counter = StepCounter::parameter});
  model.step();
  EXPECT_EQ(model.step_count(0), 0);
  model.add_gradient(0, Values{});
  EXPECT_TRUE(model.has_gradient(0));
  model.step();
  EXPECT_EQ(model.step_count(0), 1);
  model.zero_grad(true);
  EXPECT_FALSE(model.has_gradient(0));
}

TEST(Model, AStepInPartsIsTheSameStep) {
  auto whole = two_parameters();
  auto parts = two_parameters();
  for (auto* model : {&whole, &parts}) {
    model->add_gradient(0, Values{0.5F, 0.25F, -1.0F});
    model->add_gradient(1, Values{2.0F});
  }
  whole.step();
  parts.begin_step();
  parts.step_parameter(1);
  parts.step_parameter(0);
  for (int p = 0; p < 2; ++p)
    for (auto const kind : all_tensor_kinds)
      EXPECT_EQ(copy(parts.tensor(p, kind)), copy(whole.tensor(p, kind))) << p << name_of(kind);
  EXPECT_EQ(parts.step_count(0), whole.step_count(0));
}

TEST(ModelDeathTest, AParameterStepsOnceInAStep) {
  auto model = two_parameters();
  model.begin_step();
  model.step_parameter(0);
  EXPECT_DEATH(model.step_parameter(0), "once");
  EXPECT_DEATH(model.begin_step(), "finished");
}

TEST(ModelDeathTest, TensorsAreWrittenWhole) {
  auto model = two_parameters();
  EXPECT_DEATH(model.write_parameter(0, 3, Values{1.0F}), "lies in");
  EXPECT_DEATH(model.add_gradient(0, Values{1.0F}), "covers");
}

}  // namespace
}  // namespace adamant::oracle
