#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oracle/model/model.h"

namespace adamant::oracle {
namespace {

using Values = std::vector<float>;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t three = 3;

Model fresh_model(Formats const& formats) {
  return Model(
      {.parameters = {{.name = "w", .shape = {three}, .formats = formats}}, .groups = {{}}});
}

Values numbers_of(Model const& model, TensorKind kind) {
  auto const tensor = model.tensor(0, kind);
  return {tensor.begin(), tensor.end()};
}

/// What somebody saved: these values, in these formats.
Model::Saved saved_of(Formats const& formats, Values const& weight, Values const& moments) {
  auto model = fresh_model(formats);
  model.write_parameter(0, weight);
  auto saved = model.save();
  if (formats.main) saved.set(0, TensorKind::main, *formats.main, weight);
  saved.set(0, TensorKind::exp_avg, formats.exp_avg, moments);
  saved.set(0, TensorKind::exp_avg_sq, formats.exp_avg_sq, moments);
  return saved;
}

Model after_load(Formats const& formats, Model::Saved const& saved) {
  auto model = fresh_model(formats);
  model.load(saved);
  return model;
}

constexpr float halfway = 1.0F + 0x1p-8F;  // halfway between two numbers of bf16

TEST(LoadsOfOtherTypes, TheWeightIsTheMainOneOrElseTheParameter) {
  Formats const wide = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  auto const saved = saved_of(wide, {halfway, 3.0F, -0x1p-30F}, Values(three));
  EXPECT_EQ(numbers_of(after_load({}, saved), TensorKind::parameter),
            (Values{halfway, 3.0F, -0x1p-30F}));
  EXPECT_TRUE(numbers_of(after_load({}, saved), TensorKind::main).empty());
  auto const alone =
      saved_of({.parameter = NumberFormat::bf16}, {halfway, 3.0F, 0.0F}, Values(three));
  EXPECT_EQ(numbers_of(after_load(wide, alone), TensorKind::main), (Values{1.0F, 3.0F, 0.0F}));
}

TEST(LoadsOfOtherTypes, ASplitWeightIsSplitAnewAndAnotherParameterStays) {
  Formats const wide = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  Formats const split = {.parameter = NumberFormat::bf16, .main = NumberFormat::remainder};
  auto const of_wide = saved_of(wide, {halfway, 1.0F, not_a_number}, Values(three));
  EXPECT_EQ(numbers_of(after_load(split, of_wide), TensorKind::parameter)[0], 1.0F + 0x1p-7F);
  EXPECT_EQ(numbers_of(after_load(split, of_wide), TensorKind::main)[0], halfway);
  auto of_split = of_wide;
  of_split.set(0, TensorKind::main, NumberFormat::remainder, Values{halfway, 1.0F, not_a_number});
  of_split.set(0, TensorKind::parameter, NumberFormat::bf16,
               Values{1.0F + 0x1p-7F, 1.0F, not_a_number});
  EXPECT_EQ(numbers_of(after_load(wide, of_split), TensorKind::parameter)[0], 1.0F + 0x1p-7F);
  EXPECT_EQ(
      numbers_of(after_load({.parameter = NumberFormat::bf16}, of_split), TensorKind::parameter)[0],
      1.0F);
}

TEST(LoadsOfOtherTypes, AParameterBesideAMainWeightThatChangesStays) {
  Formats const saving = {.parameter = NumberFormat::fp16, .main = NumberFormat::bf16};
  auto saved = saved_of(saving, {1.0F, 2.0F, 3.0F}, Values(three));
  saved.set(0, TensorKind::parameter, NumberFormat::fp16, Values{1.0F + 0x1p-10F, 2.0F, 3.0F});
  Formats const loading = {.parameter = NumberFormat::fp16, .main = NumberFormat::fp32};
  EXPECT_EQ(numbers_of(after_load(loading, saved), TensorKind::parameter)[0], 1.0F + 0x1p-10F);
  EXPECT_EQ(
      numbers_of(after_load({.parameter = NumberFormat::fp16}, saved), TensorKind::parameter)[0],
      1.0F);
}

TEST(LoadsOfOtherTypes, StatesWithAScaleGetANewOneUnlessTheSameElementsShareIt) {
  Formats const local = {.exp_avg = NumberFormat::fp8, .state_scale = StateScale::local};
  auto saved = saved_of(local, Values(three), {3.0F, 0.7F, 448.0F});
  saved.set_scales(0, TensorKind::exp_avg, {{{0, 2}}, {{2, 3}}, {{3, 3}}}, {0.25F, 1.0F, 1.0F});
  auto model = fresh_model(local);
  model.share_scales(0, {{{0, 0}}, {{0, 2}}, {{2, 3}}});
  model.load(saved);
  EXPECT_EQ(numbers_of(model, TensorKind::exp_avg), (Values{3.0F, 0.7F, 448.0F}));
  auto const scales = model.scales(0, TensorKind::exp_avg);
  EXPECT_EQ(Values(scales.begin(), scales.end()), (Values{1.0F, 0.25F, 1.0F}));
  model.share_scales(0, {{{0, 3}}});
  model.load(saved);
  EXPECT_EQ(numbers_of(model, TensorKind::exp_avg), (Values{3.0F, 0.6875F, 448.0F}));
}

TEST(LoadsOfOtherTypes, WhatIsSaidToBeStoredIsKeptAndValuesAreStoredAnew) {
  Formats const saving = {.parameter = NumberFormat::bf16, .exp_avg = NumberFormat::fp8};
  auto saved = saved_of(saving, {1.0F, 2.0F, 3.0F}, {1.0F, 2.0F, 3.0F});
  saved.set_stored(0, TensorKind::parameter, Values{4.0F, 5.0F, 6.0F});
  saved.set_stored(0, TensorKind::exp_avg, Values{7.0F, 8.0F, 9.0F});
  auto const same = after_load(saving, saved);
  EXPECT_EQ(numbers_of(same, TensorKind::parameter), (Values{4.0F, 5.0F, 6.0F}));
  EXPECT_EQ(numbers_of(same, TensorKind::exp_avg), (Values{7.0F, 8.0F, 9.0F}));
  auto const other = after_load({}, saved);
  EXPECT_EQ(numbers_of(other, TensorKind::parameter), (Values{1.0F, 2.0F, 3.0F}));
  EXPECT_EQ(numbers_of(other, TensorKind::exp_avg), (Values{1.0F, 2.0F, 3.0F}));
}

TEST(LoadsOfOtherTypes, WhatMayNotBeRoundedIsFound) {
  auto const saved = saved_of({}, {halfway, 1.0F, 2.0F}, {0.0F, 1.0F, 0x1.000002p0F});
  auto const rounded_by = [&](Formats const& formats, std::vector<TensorKind> const& kinds) {
    return fresh_model(formats).rounded_by(saved, {kinds});
  };
  EXPECT_FALSE(rounded_by({}, {}));
  EXPECT_EQ(rounded_by({.exp_avg_sq = NumberFormat::bf16}, {TensorKind::exp_avg})->kind,
            TensorKind::exp_avg_sq);
  EXPECT_FALSE(rounded_by({.exp_avg_sq = NumberFormat::bf16}, {TensorKind::exp_avg_sq}));
  EXPECT_EQ(rounded_by({.parameter = NumberFormat::bf16}, {TensorKind::main})->kind,
            TensorKind::parameter);
  EXPECT_EQ(rounded_by({.main = NumberFormat::bf16}, {TensorKind::parameter})->kind,
            TensorKind::main);
  Formats const split = {.parameter = NumberFormat::bf16, .main = NumberFormat::remainder};
  EXPECT_FALSE(rounded_by(split, {TensorKind::parameter}));
}

TEST(LoadsOfOtherTypes, AMainWeightThatGoesIsKeptWhereItsParameterHasAllOfIt) {
  Formats const wide = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  auto const exact = saved_of(wide, {1.0F, not_a_number, -0.0F}, Values(three));
  EXPECT_FALSE(fresh_model({.parameter = NumberFormat::bf16}).rounded_by(exact, {}));
  auto const more = saved_of(wide, {halfway, not_a_number, -0.0F}, Values(three));
  EXPECT_TRUE(fresh_model({.parameter = NumberFormat::bf16}).rounded_by(more, {}));
  EXPECT_FALSE(fresh_model({}).rounded_by(more, {}));
  EXPECT_FALSE(
      fresh_model({.parameter = NumberFormat::bf16}).rounded_by(more, {{TensorKind::main}}));
}

}  // namespace
}  // namespace adamant::oracle
