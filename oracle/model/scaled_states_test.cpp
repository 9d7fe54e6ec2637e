// Numbers are worked by hand where they can be. Gradients are halved by betas of 1/2: from moments
// of 0, m = g / 2 and v = g^2 / 2.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/adam/adam_step.h"
#include "oracle/formats/formats.h"
#include "oracle/model/model.h"
#include "oracle/quantise/states.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

using Values = std::vector<float>;

constexpr AdamConfig halves{.beta1 = 0.5F, .beta2 = 0.5F};

/// One parameter of three elements.
Model model_of(Formats const& formats, AdamConfig const& config = halves,
               LossScale const& loss_scale = {}) {
  Model model({.parameters = {{.name = "w", .shape = {3}, .formats = formats}},
               .groups = {config},
               .loss_scale = loss_scale});
  model.write_parameter(0, Values{1.0F, -2.0F, 0.25F});
  return model;
}

Values kept(Model const& model, TensorKind kind) {
  auto const values = model.tensor(0, kind);
  return {values.begin(), values.end()};
}

Values kept_scales(Model const& model, TensorKind kind) {
  auto const all = model.scales(0, kind);
  return {all.begin(), all.end()};
}

Formats with_exp_avg(NumberFormat format) {
  return {.exp_avg = format};
}

TEST(ScaledStatesOfAModel, BeginAtZeroWithTheScaleOne) {
  auto const model = model_of({.exp_avg = NumberFormat::fp8});
  EXPECT_EQ(kept(model, TensorKind::exp_avg), Values(3));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{1.0F});
  EXPECT_TRUE(kept_scales(model, TensorKind::exp_avg_sq).empty());
  EXPECT_TRUE(kept_scales(model, TensorKind::parameter).empty());
}

// 62 lies between 60 and 64 in E4M3. The next step goes on from the 64 that was kept, and has a
// scale of its own: 10.5 / 448.
TEST(ScaledStatesOfAModel, AreReadAsWhatWasStored) {
  auto model = model_of(with_exp_avg(NumberFormat::fp8));
  model.add_gradient(0, Values{14.0F, 124.0F / 64, 0.0F});
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{7.0F, 1.0F, 0.0F}));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x1p-6F});
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{10.5F, 1.5F, 0.0F}));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x3p-7F});
}

// Of 16 bits the largest becomes 32752; beyond 2048 odd numbers go to the even half.
TEST(ScaledStatesOfAModel, OfSixteenBitsHaveElevenSignificantOnes) {
  auto model = model_of(with_exp_avg(NumberFormat::fp16));
  model.add_gradient(0, Values{-65504.0F / 1024, 4098.0F / 1024, 2.0F / 1024});
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{-32752.0F / 1024, 2.0F, 1.0F / 1024}));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x1p-10F});
}

TEST(ScaledStatesOfAModel, TheUpdateUsesMomentsBeforeTheyAreRounded) {
  auto model = model_of({.exp_avg = NumberFormat::fp8, .exp_avg_sq = NumberFormat::fp8});
  Values const g = {14.0F, 124.0F / 64, 0.3F};
  Values p = {1.0F, -2.0F, 0.25F}, m(3), v(3);
  model.add_gradient(0, g);
  for (int t = 1; t <= 3; ++t) {
    adam_step(halves, t, g, p, m, v);
    model.step();
    EXPECT_EQ(kept(model, TensorKind::parameter), p);
    round_scaled(m, scale_of(amax_of(m), NumberFormat::fp8), NumberFormat::fp8);
    round_scaled(v, scale_of(amax_of(v), NumberFormat::fp8), NumberFormat::fp8);
    EXPECT_EQ(kept(model, TensorKind::exp_avg), m);
    EXPECT_EQ(kept(model, TensorKind::exp_avg_sq), v);
  }
}

TEST(ScaledStatesOfAModel, OfZerosAloneHaveTheScaleOne) {
  auto model = model_of({.exp_avg = NumberFormat::fp8, .exp_avg_sq = NumberFormat::fp16});
  model.add_gradient(0, Values{8.0F, 0.0F, 0.0F});
  model.step();
  EXPECT_NE(kept_scales(model, TensorKind::exp_avg), Values{1.0F});
  auto still = model_of({.exp_avg = NumberFormat::fp8, .exp_avg_sq = NumberFormat::fp16});
  still.zero_grad(false);
  still.step();
  EXPECT_EQ(kept(still, TensorKind::exp_avg), Values(3));
  EXPECT_EQ(kept_scales(still, TensorKind::exp_avg), Values{1.0F});
  EXPECT_EQ(kept_scales(still, TensorKind::exp_avg_sq), Values{1.0F});
}

TEST(ScaledStatesOfAModel, WhatIsNotFiniteHasNoPartInTheScale) {
  for (NumberFormat const format : {NumberFormat::fp16, NumberFormat::fp8}) {
    auto model = model_of(with_exp_avg(format));
    model.add_gradient(0, Values{-inf, 14.0F, nan});
    model.step();
    auto const m = kept(model, TensorKind::exp_avg);
    EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{scale_of(7.0F, format)});
    EXPECT_EQ(std::isnan(m[0]), format == NumberFormat::fp8);
    EXPECT_EQ(m[0] == -inf, format == NumberFormat::fp16);
    EXPECT_TRUE(std::isnan(m[2]));
  }
}

// v = 2^-149, the smallest number there is: of 2^-126 it is 2^-23, which binary16 has and E4M3 not.
TEST(ScaledStatesOfAModel, OfSubnormalsHaveTheSmallestScale) {
  for (NumberFormat const format : {NumberFormat::fp16, NumberFormat::fp8}) {
    auto model = model_of({.exp_avg_sq = format});
    model.add_gradient(0, Values{0x1p-74F, 0.0F, 0.0F});
    model.step();
    EXPECT_EQ(kept_scales(model, TensorKind::exp_avg_sq), Values{0x1p-126F});
    EXPECT_EQ(kept(model, TensorKind::exp_avg_sq)[0],
              format == NumberFormat::fp16 ? 0x1p-149F : 0.0F);
  }
}

TEST(ScaledStatesOfAModel, StayWhereThereIsNoGradientAndWhereAStepIsSkipped) {
  auto model = model_of(with_exp_avg(NumberFormat::fp8), halves,
                        {.kind = LossScale::Kind::fixed, .value = 1.0F});
  model.add_gradient(0, Values{14.0F, 1.0F, 0.0F});
  model.step();
  auto const m = kept(model, TensorKind::exp_avg);
  model.zero_grad(true);
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), m);
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x1p-6F});
  model.add_gradient(0, Values{inf, 100.0F, 0.0F});
  model.step();
  EXPECT_TRUE(model.scaling().skipped);
  EXPECT_EQ(kept(model, TensorKind::exp_avg), m);
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x1p-6F});
}

TEST(ScaledStatesOfAModel, ShardsHaveScalesOfTheirOwnWhereTheyAreLocal) {
  auto model = model_of({.exp_avg = NumberFormat::fp8, .state_scale = StateScale::local});
  model.share_scales(0, {{{0, 1}}, {{1, 1}}, {{1, 3}}, {{3, 3}}});
  model.add_gradient(0, Values{14.0F, 0.875F, 124.0F / 512});
  model.step();
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), (Values{0x1p-6F, 1.0F, 0x1p-10F, 1.0F}));
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{7.0F, 0.4375F, 0.125F}));
}

TEST(ScaledStatesOfAModel, AShardMayHaveSeveralRanges) {
  auto model = model_of({.exp_avg = NumberFormat::fp8, .state_scale = StateScale::local});
  model.share_scales(0, {{{0, 1}, {2, 3}}, {{1, 2}}});
  model.add_gradient(0, Values{124.0F / 64, 0.0F, 14.0F});
  model.step();
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), (Values{0x1p-6F, 1.0F}));
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{1.0F, 0.0F, 7.0F}));
}

TEST(ScaledStatesOfAModel, WithoutElementsHaveTheScaleOne) {
  Formats const formats{.exp_avg = NumberFormat::fp8, .exp_avg_sq = NumberFormat::fp16};
  Model model({.parameters = {{.name = "e", .shape = {0, 4}, .formats = formats}},
               .groups = {AdamConfig{}}});
  model.zero_grad(false);
  model.step();
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{1.0F});
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg_sq), Values{1.0F});
}

TEST(StatesWithoutAScale, ArePlainNumbers) {
  Formats const plain{.exp_avg = NumberFormat::fp16, .state_scale = StateScale::none};
  auto model = model_of(plain);
  model.add_gradient(0, Values{2.0F + 0x1p-11F, 140000.0F, 0x1p-25F});
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{1.0F, inf, 0.0F}));
  EXPECT_TRUE(kept_scales(model, TensorKind::exp_avg).empty());
}

TEST(StatesWithoutAScale, AreStoredAnewWhereTheFileHasOne) {
  Formats const scaled{.exp_avg = NumberFormat::fp16};
  Formats const plain{.exp_avg = NumberFormat::fp16, .state_scale = StateScale::none};
  auto model = model_of(scaled);
  model.add_gradient(0, Values{0x1p-28F, 0.0F, 0.0F});
  model.step();
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{0x1p-29F, 0.0F, 0.0F}));
  auto const saved = model.save();
  model.reformat({plain});
  model.load(saved);
  EXPECT_EQ(kept(model, TensorKind::exp_avg), Values(3)) << "less than binary16 has";
  EXPECT_TRUE(kept_scales(model, TensorKind::exp_avg).empty());

  model.zero_grad(true);
  model.add_gradient(0, Values{4.0F, 0.0F, 0.0F});
  model.step();
  auto const saved_plain = model.save();
  model.reformat({scaled});
  model.load(saved_plain);
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{2.0F, 0.0F, 0.0F}));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{2.0F / 32752});
}

TEST(MainWeightsWithAScale, AreStoredFromTheRoundedParameter) {
  auto model = model_of({.parameter = NumberFormat::bf16, .main = NumberFormat::fp16});
  model.write_parameter(0, Values{1.001F, -1.995F, 0.0F});
  Values expected = {1.0F, -1.9921875F, 0.0F};
  EXPECT_EQ(kept(model, TensorKind::parameter), expected);
  float const scale = 1.9921875F / 32752;
  EXPECT_EQ(kept_scales(model, TensorKind::main), Values{scale});
  round_scaled(expected, scale, NumberFormat::fp16);
  EXPECT_EQ(kept(model, TensorKind::main), expected);
}

// The smallest of them lies between few codes: of what is kept of it another parameter would come.
TEST(MainWeightsWithAScale, AreRoundedAfterTheParameterAndSteppedFromThere) {
  AdamConfig const config{.learning_rate = 0.1F, .weight_decay = 0.5F};
  auto model = model_of({.parameter = NumberFormat::bf16, .main = NumberFormat::fp16}, config);
  model.write_parameter(0, Values{1.0F, -2.0F, 1e-10F});
  Values const g = {0.3F, -0.1F, 0.0F};
  Values p = kept(model, TensorKind::main), m(3), v(3);
  model.add_gradient(0, g);
  for (int t = 1; t <= 3; ++t) {
    adam_step(config, t, g, p, m, v);
    model.step();
    Values parameter = p;
    round_to(NumberFormat::bf16, parameter);
    EXPECT_EQ(kept(model, TensorKind::parameter), parameter);
    float const scale = scale_of(amax_of(p), NumberFormat::fp16);
    round_scaled(p, scale, NumberFormat::fp16);
    EXPECT_EQ(kept(model, TensorKind::main), p);
    EXPECT_EQ(kept_scales(model, TensorKind::main), Values{scale});
    EXPECT_NE(parameter[2], rounded(p[2], NumberFormat::bf16));
  }
}

// A decay of 3 / 512 leads from 1 to half between two parameters: to nearest even the lower one
// would be it.
TEST(RemaindersOfAModel, KeepAllOfTheWeightBesideAParameterThatIsRoundedAway) {
  auto model = model_of({.parameter = NumberFormat::bf16, .main = NumberFormat::remainder},
                        {.learning_rate = 0x1p-7F, .weight_decay = 0.75F});
  EXPECT_EQ(kept(model, TensorKind::main), (Values{1.0F, -2.0F, 0.25F}));
  model.zero_grad(false);
  model.step();
  EXPECT_EQ(kept(model, TensorKind::main)[0], 1.0F - 0x3p-9F);
  EXPECT_EQ(kept(model, TensorKind::parameter)[0], 1.0F - 0x1p-8F);
  EXPECT_TRUE(kept_scales(model, TensorKind::main).empty());
}

TEST(RemaindersOfAModel, AreAdoptedWithTheirParameter) {
  auto model = model_of({.parameter = NumberFormat::bf16, .main = NumberFormat::remainder});
  model.zero_grad(false);
  model.begin_step();
  model.adopt_step(
      0,
      {.weight = Values{1.0F - 0x3p-9F, nan, inf}, .exp_avg = Values(3), .exp_avg_sq = Values(3)});
  auto const parameter = kept(model, TensorKind::parameter);
  EXPECT_EQ(parameter[0], 1.0F - 0x1p-8F);
  EXPECT_TRUE(std::isnan(parameter[1]));
  EXPECT_EQ(parameter[2], inf);
}

TEST(ScaledStatesOfAModel, AreSavedAndLoadedWithTheirScales) {
  auto model = model_of(with_exp_avg(NumberFormat::fp8));
  model.add_gradient(0, Values{14.0F, 1.0F, 0.3F});
  model.step();
  auto const m = kept(model, TensorKind::exp_avg);
  auto const saved = model.save();
  model.add_gradient(0, Values{100.0F, 1.0F, 0.0F});
  model.step();
  model.load(saved);
  EXPECT_EQ(kept(model, TensorKind::exp_avg), m);
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), Values{0x1p-6F});
}

TEST(ScaledStatesOfAModel, AreStoredAnewForOtherShards) {
  auto model = model_of({.exp_avg = NumberFormat::fp8, .state_scale = StateScale::local});
  model.share_scales(0, {{{0, 2}}, {{2, 3}}});
  model.add_gradient(0, Values{14.0F, 124.0F / 64, 0.875F});
  model.step();
  auto const saved = model.save();
  model.share_scales(0, {{{0, 3}}, {{3, 3}}});
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), (Values{1.0F, 1.0F}));
  model.load(saved);
  EXPECT_EQ(kept(model, TensorKind::exp_avg), (Values{7.0F, 1.0F, 0.4375F}));
  EXPECT_EQ(kept_scales(model, TensorKind::exp_avg), (Values{0x1p-6F, 1.0F}));
}

}  // namespace
}  // namespace adamant::oracle
