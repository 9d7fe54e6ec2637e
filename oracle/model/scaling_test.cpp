#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/model/model.h"
#include "oracle/scale/exact_norm.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

using Values = std::vector<float>;

/// Two parameters of two elements under one group.
Model model_of(LossScale const& loss_scale = {}) {
  Model model({.parameters = {{.name = "a", .shape = {2}}, {.name = "b", .shape = {2}}},
               .groups = {AdamConfig()},
               .loss_scale = loss_scale});
  for (int p = 0; p < 2; ++p) model.write_parameter(p, Values{1, -1});
  return model;
}

LossScale fixed(float value) {
  return {.kind = LossScale::Kind::fixed, .value = value};
}

Values copy(Model const& model, TensorKind kind, int parameter = 0) {
  auto const values = model.tensor(parameter, kind);
  return {values.begin(), values.end()};
}

TEST(ScaledModel, AStepUnscalesWhatABackwardScaled) {
  Model plain = model_of();
  Model scaled = model_of(fixed(8.0F));
  plain.add_gradient(0, Values{0.5F, -3.0F});
  scaled.add_gradient(0, Values{4.0F, -24.0F});
  plain.step();
  scaled.step();
  for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq})
    EXPECT_EQ(copy(scaled, kind), copy(plain, kind));
  EXPECT_EQ(copy(scaled, TensorKind::gradient), (Values{4.0F, -24.0F}));  // as it was
}

TEST(ScaledModel, AStepWithAGradientThatIsNotFiniteChangesNothingButTheScale) {
  Model model = model_of({.kind = LossScale::Kind::dynamic});
  for (int i = 0; i < 2; ++i) {
    model.zero_grad(true);
    model.add_gradient(0, Values{1, 1});
    model.add_gradient(1, Values{1, i == 0 ? inf : -inf});
    model.step();
  }
  EXPECT_TRUE(model.scaling().skipped);
  EXPECT_EQ(model.scaling().loss_scale, 0x1p31F);
  EXPECT_EQ(copy(model, TensorKind::parameter), (Values{1, -1}));
  EXPECT_EQ(copy(model, TensorKind::exp_avg), (Values{0, 0}));
  EXPECT_EQ(model.step_count(0), 0);
}

TEST(ScaledModel, WithoutALossScaleAnInfinityFlowsIntoTheState) {
  Model model = model_of();
  model.add_gradient(0, Values{inf, 0});
  model.step();
  EXPECT_FALSE(model.scaling().skipped);
  EXPECT_EQ(model.tensor(0, TensorKind::exp_avg)[0], inf);
  EXPECT_EQ(model.step_count(0), 1);
}

TEST(ScaledModel, ClipCoversAllParametersAndScalesTheStep) {
  Model clipped = model_of();
  clipped.add_gradient(0, Values{3, 0});
  clipped.add_gradient(1, Values{0, -4});
  clipped.set_max_norm(1.0F);
  clipped.clip();
  float const coefficient = clip_coefficient(1.0F, 5.0F);
  EXPECT_EQ(clipped.scaling().norm, 5.0F);
  EXPECT_EQ(clipped.scaling().coefficient, coefficient);
  clipped.step();

  Model by_hand = model_of();
  by_hand.add_gradient(0, Values{3 * coefficient, 0});
  by_hand.add_gradient(1, Values{0, -4 * coefficient});
  by_hand.step();
  for (int p = 0; p < 2; ++p)
    EXPECT_EQ(copy(clipped, TensorKind::parameter, p), copy(by_hand, TensorKind::parameter, p));
}

TEST(ScaledModel, TheNormIsOfUnscaledGradients) {
  Model model = model_of(fixed(3.0F));
  model.add_gradient(0, Values{9, 12});
  model.set_max_norm(1.0F);
  model.clip();
  float const third = 1.0F / 3.0F;
  EXPECT_EQ(model.scaling().norm, static_cast<float>(std::hypot(9 * third, 12 * third)));
}

TEST(ScaledModel, ACoefficientHoldsUntilGradientsChange) {
  Model model = model_of();
  model.add_gradient(0, Values{3, 4});
  model.set_max_norm(1.0F);
  model.clip();
  model.step();
  EXPECT_LT(model.scaling().coefficient, 1.0F);
  model.begin_backward();
  EXPECT_EQ(model.scaling().coefficient, 1.0F);
  model.clip();
  model.zero_grad(false);
  EXPECT_EQ(model.scaling().coefficient, 1.0F);
  model.clip();
  EXPECT_EQ(model.scaling().norm, 0.0F);
}

TEST(ScaledModel, ANewScaleStartsAfresh) {
  Model model = model_of({.kind = LossScale::Kind::dynamic});
  model.add_gradient(0, Values{inf, 0});
  model.step();
  EXPECT_EQ(model.scaling().hysteresis, 1);
  model.set_loss_scale({.kind = LossScale::Kind::dynamic});
  EXPECT_EQ(model.scaling().hysteresis, 2);
  EXPECT_FALSE(model.scaling().skipped);
  model.set_loss_scale({});
  EXPECT_EQ(model.scaling().loss_scale, 1.0F);
}

TEST(ScaledModel, ALoadBringsBackScalerAndNorm) {
  Model model = model_of({.kind = LossScale::Kind::dynamic});
  model.set_max_norm(0.5F);
  model.add_gradient(0, Values{inf, 0});
  model.step();
  Model::Saved const saved = model.save();
  model.set_loss_scale(fixed(3.0F));
  model.set_max_norm(std::nullopt);
  model.load(saved);
  EXPECT_EQ(model.scaling().loss_scale, 0x1p32F);
  EXPECT_EQ(model.scaling().hysteresis, 1);
  EXPECT_EQ(model.scaling().max_norm, 0.5F);
  EXPECT_FALSE(model.scaling().skipped);  // that was another step
  EXPECT_EQ(model.scaling().inverse, 0x1p-32F);
}

}  // namespace
}  // namespace adamant::oracle
