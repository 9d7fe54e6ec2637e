#include "oracle/model/model.h"

#include <gtest/gtest.h>

#include <vector>

#include "oracle/adam/adam_step.h"
#include "oracle/formats/formats.h"

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
  model.write_parameter(0, Values{1.0F, -2.0F, 0.5F});
  model.write_parameter(1, Values{4.0F});
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

/// One element in the formats given, with a gradient that has more bits than bf16.
Model in_formats(Formats const& formats) {
  Model model({.parameters = {{.name = "w", .shape = {1}, .formats = formats}},
               .groups = {AdamConfig{.learning_rate = 0.01F}}});
  model.write_parameter(0, Values{1.001F});
  return model;
}

float at(Model const& model, TensorKind kind) {
  return model.tensor(0, kind).front();
}

TEST(Model, ParametersAndMainWeightsStartAtTheRoundedValue) {
  auto const model = in_formats({.parameter = NumberFormat::bf16, .main = NumberFormat::fp32});
  EXPECT_EQ(at(model, TensorKind::parameter), 1.0F);
  EXPECT_EQ(at(model, TensorKind::main), 1.0F);
}

// Moments are rounded when they are stored; the weight moves by what they were before.
TEST(Model, EverythingIsComputedInFp32AndRoundedOnce) {
  Formats const formats{.parameter = NumberFormat::bf16,
                        .exp_avg = NumberFormat::bf16,
                        .exp_avg_sq = NumberFormat::bf16,
                        .main = NumberFormat::fp32};
  auto model = in_formats(formats);
  ByHand by_hand{{0.3F}, {1.0F}, {0.0F}, {0.0F}};
  model.add_gradient(0, by_hand.g);
  for (int t = 1; t <= 3; ++t) {
    model.step();
    by_hand.step(AdamConfig{.learning_rate = 0.01F}, t);
    by_hand.m[0] = rounded(by_hand.m[0], NumberFormat::bf16);
    by_hand.v[0] = rounded(by_hand.v[0], NumberFormat::bf16);
    EXPECT_EQ(at(model, TensorKind::main), by_hand.p[0]);
    EXPECT_EQ(at(model, TensorKind::parameter), rounded(by_hand.p[0], NumberFormat::bf16));
    EXPECT_EQ(at(model, TensorKind::exp_avg), by_hand.m[0]);
    EXPECT_EQ(at(model, TensorKind::exp_avg_sq), by_hand.v[0]);
  }
}

TEST(Model, WithoutAMainWeightTheParameterForgetsWhatItCannotHold) {
  auto model = in_formats({.parameter = NumberFormat::fp16});
  ByHand by_hand{{0.3F}, {rounded(1.001F, NumberFormat::fp16)}, {0.0F}, {0.0F}};
  model.add_gradient(0, by_hand.g);
  model.step();
  by_hand.step(AdamConfig{.learning_rate = 0.01F}, 1);
  EXPECT_EQ(at(model, TensorKind::parameter), rounded(by_hand.p[0], NumberFormat::fp16));
  EXPECT_TRUE(model.tensor(0, TensorKind::main).empty());
}

TEST(Model, GradientsGrowInTheirOwnFormat) {
  auto model = in_formats({.gradient = NumberFormat::bf16});
  model.add_gradient(0, Values{256.0F});
  model.add_gradient(0, Values{1.001F});
  EXPECT_EQ(at(model, TensorKind::gradient), 256.0F);  // 257 is not there in bf16
}

TEST(Model, ACoupledGradientOfAnotherFormatIsCastForTheStep) {
  Formats const coupled{.parameter = NumberFormat::bf16, .decoupled_gradient = false};
  auto model = in_formats(coupled);
  EXPECT_TRUE(model.tensor(0, TensorKind::cast_gradient).empty());
  model.add_gradient(0, Values{0.3F});
  EXPECT_EQ(at(model, TensorKind::gradient), 0.3F);
  EXPECT_EQ(at(model, TensorKind::cast_gradient), rounded(0.3F, NumberFormat::bf16));
  model.step();
  ByHand by_hand{{rounded(0.3F, NumberFormat::bf16)}, {1.0F}, {0.0F}, {0.0F}};
  by_hand.step(AdamConfig{.learning_rate = 0.01F}, 1);
  EXPECT_EQ(at(model, TensorKind::exp_avg_sq), by_hand.v[0]);
  model.zero_grad(false);
  EXPECT_EQ(at(model, TensorKind::cast_gradient), 0.0F);
  model.zero_grad(true);
  EXPECT_TRUE(model.tensor(0, TensorKind::cast_gradient).empty());
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
  EXPECT_DEATH(model.write_parameter(0, Values{1.0F}), "covers");
  EXPECT_DEATH(model.add_gradient(0, Values{1.0F}), "covers");
}

}  // namespace
}  // namespace adamant::oracle
