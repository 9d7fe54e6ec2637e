// Numbers are worked by hand. With betas of 0 and an epsilon of 1, a gradient of 1 is an update of
// 1/2, of -1 one of -1/2, and of 0 none: each step moves a weight by half the learning rate or not
// at all.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "oracle/model/model.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

using Values = std::vector<float>;
using Codes = std::vector<std::uint8_t>;
/// The elements that are not 0.
using Sparse = std::map<std::int64_t, float>;

struct Case {
  Recipe recipe;
  std::vector<std::int64_t> shape;
  Sparse weights;
};

Case case_of(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return {recipe, {128, 256}, {{0, 7.0F}, {128, 3.0F}}};
    case Recipe::mxfp8:
      return {recipe, {32, 32}, {{0, 6.0F}, {32, 1.0F}}};
    case Recipe::nvfp4:
      return {recipe, {16, 32}, {{0, 12.0F}, {16, 3.0F}, {17, 1.0F}}};
    default:
      return {recipe, {2, 2}, {{0, 7.0F}, {1, -3.5F}, {2, 1.0F}, {3, 0.3F}}};
  }
}

ParameterSpec spec_of(Case const& tested) {
  return {.name = "w",
          .shape = tested.shape,
          .formats = {.main = NumberFormat::fp32, .recipe = tested.recipe}};
}

Values dense(Sparse const& sparse, std::int64_t numel) {
  Values values(static_cast<std::size_t>(numel));
  for (auto const& [index, value] : sparse) values[static_cast<std::size_t>(index)] = value;
  return values;
}

AdamConfig moving_by(float distance) {
  return {.learning_rate = 2 * distance,
          .beta1 = 0.0F,
          .beta2 = 0.0F,
          .epsilon = 1.0F,
          .weight_decay = 0.0F};
}

Model model_of(ParameterSpec const& spec, Sparse const& weights, AdamConfig const& config,
               LossScale const& loss_scale = {}) {
  Model model({.parameters = {spec}, .groups = {config}, .loss_scale = loss_scale});
  model.write_parameter(0, dense(weights, spec.numel()));
  return model;
}

Model model_of(Recipe recipe, AdamConfig const& config = moving_by(7.0F)) {
  Case const tested = case_of(recipe);
  return model_of(spec_of(tested), tested.weights, config);
}

void step(Model& model, Sparse const& gradient) {
  model.set_gradient(0, dense(gradient, model.spec(0).numel()));
  model.step();
}

Values held(Model const& model, TensorKind kind) {
  auto const values = model.tensor(0, kind);
  return {values.begin(), values.end()};
}

/// Codes of the elements that the case is about; all others are 0.
Codes codes_of(Model const& model, Recipe recipe) {
  Codes codes;
  Codes all = model.quantised(0).codes;
  for (auto const& [index, weight] : case_of(recipe).weights) {
    codes.push_back(all[static_cast<std::size_t>(index)]);
    all[static_cast<std::size_t>(index)] = 0;
  }
  EXPECT_EQ(all, Codes(all.size()));
  return codes;
}

Values values_at(Model const& model, Recipe recipe) {
  Values values;
  auto const all = model.tensor(0, TensorKind::parameter);
  for (auto const& [index, weight] : case_of(recipe).weights)
    values.push_back(all[static_cast<std::size_t>(index)]);
  return values;
}

bool same(Quantised const& a, Quantised const& b) {
  return a.codes == b.codes && a.scales == b.scales && a.scale_codes == b.scale_codes &&
         a.amax == b.amax;
}

TEST(QuantisedParameters, BeginAtZero) {
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::nvfp4}) {
    ParameterSpec const spec = spec_of(case_of(recipe));
    Model const model({.parameters = {spec}, .groups = {{}}});
    EXPECT_EQ(held(model, TensorKind::parameter), dense({}, spec.numel()));
    EXPECT_EQ(model.quantised(0).codes, Codes(static_cast<std::size_t>(spec.numel())));
  }
}

// 0.3 * 64 lies between the codes of 18 and 20. Of 14 instead of 7 the scale is 32.
TEST(QuantisedParameters, CurrentScalesFollowTheMainWeight) {
  auto model = model_of(Recipe::fp8_current);
  auto const first = model.quantised(0);
  EXPECT_EQ(first.codes, (Codes{0x7e, 0xf6, 0x68, 0x5a}));
  EXPECT_EQ(first.scales, Values{1.0F / 64});
  EXPECT_EQ(held(model, TensorKind::parameter), (Values{7.0F, -3.5F, 1.0F, 0.3125F}));
  EXPECT_EQ(held(model, TensorKind::main), (Values{7.0F, -3.5F, 1.0F, 0.3F}));
  step(model, {{0, -1.0F}});
  EXPECT_EQ(held(model, TensorKind::main), (Values{14.0F, -3.5F, 1.0F, 0.3F}));
  EXPECT_EQ(model.quantised(0).codes, (Codes{0x7e, 0xee, 0x60, 0x52}));
  EXPECT_EQ(model.quantised(0).scales, Values{1.0F / 32});
  EXPECT_EQ(held(model, TensorKind::parameter), (Values{14.0F, -3.5F, 1.0F, 0.3125F}));
  step(model, {{0, 1.0F}});
  EXPECT_TRUE(same(model.quantised(0), first));
  EXPECT_EQ(held(model, TensorKind::main)[3], 0.3F);
}

// Each step is quantised with the scale of the amaxes before it: 14 saturates at 448 / 64.
TEST(QuantisedParameters, DelayedScalesAreOneStepBehind) {
  auto model = model_of(Recipe::fp8_delayed);
  EXPECT_EQ(model.quantised(0).codes, (Codes{0x4e, 0xc6, 0x38, 0x2a}));
  EXPECT_EQ(model.quantised(0).scales, Values{1.0F});
  EXPECT_EQ(model.delayed_scale(0).next, 64.0F);
  step(model, {{0, -1.0F}});
  EXPECT_EQ(model.quantised(0).codes, (Codes{0x7e, 0xf6, 0x68, 0x5a}));
  EXPECT_EQ(held(model, TensorKind::parameter), (Values{7.0F, -3.5F, 1.0F, 0.3125F}));
  EXPECT_EQ(held(model, TensorKind::main)[0], 14.0F);
  EXPECT_EQ(model.delayed_scale(0).next, 32.0F);
  step(model, {{0, 1.0F}});
  EXPECT_EQ(model.quantised(0).codes, (Codes{0x76, 0xee, 0x60, 0x52}));
  DelayedScale expected{.next = 32.0F};
  expected.history[13] = expected.history[15] = 7.0F;
  expected.history[14] = 14.0F;
  EXPECT_EQ(model.delayed_scale(0), expected);
}

// 448 / 3 without its mantissa is 128, and 448 / 10 is 32.
TEST(QuantisedParameters, BlocksHaveTheirOwnScales) {
  auto model = model_of(Recipe::fp8_block);
  EXPECT_EQ(model.quantised(0).scales, (Values{1.0F / 64, 1.0F / 128}));
  EXPECT_EQ(codes_of(model, Recipe::fp8_block), (Codes{0x7e, 0x7c}));
  step(model, {{0, -1.0F}});
  EXPECT_EQ(model.quantised(0).scales, (Values{1.0F / 32, 1.0F / 128}));
  EXPECT_EQ(codes_of(model, Recipe::fp8_block), (Codes{0x7e, 0x7c}));
  step(model, {{128, -1.0F}});
  EXPECT_EQ(model.quantised(0).scales, (Values{1.0F / 32, 1.0F / 32}));
  EXPECT_EQ(codes_of(model, Recipe::fp8_block), (Codes{0x7e, 0x7a}));
  EXPECT_EQ(values_at(model, Recipe::fp8_block), (Values{14.0F, 10.0F}));
}

// 6 / 448 and 1 / 448 round up to 2^-6 and 2^-8, 13 / 448 and 8 / 448 to 2^-5; zeros have the
// smallest scale.
TEST(QuantisedParameters, RowsOfMxfp8HaveOneScaleEach) {
  auto model = model_of(Recipe::mxfp8);
  auto const scales = [&] {
    auto const& all = model.quantised(0).scale_codes;
    EXPECT_EQ(all[2], 0);
    return Codes{all[0], all[1]};
  };
  EXPECT_EQ(scales(), (Codes{121, 119}));
  EXPECT_EQ(codes_of(model, Recipe::mxfp8), (Codes{0x7c, 0x78}));
  step(model, {{0, -1.0F}});
  EXPECT_EQ(scales(), (Codes{122, 119}));
  EXPECT_EQ(codes_of(model, Recipe::mxfp8), (Codes{0x7d, 0x78}));
  EXPECT_EQ(model.quantised(0).scales[0], 0x1p-5F);
  step(model, {{32, -1.0F}});
  EXPECT_EQ(scales(), (Codes{122, 122}));
  EXPECT_EQ(codes_of(model, Recipe::mxfp8), (Codes{0x7d, 0x78}));
  EXPECT_EQ(values_at(model, Recipe::mxfp8), (Values{13.0F, 8.0F}));
}

// With 12 the tensor's scale is 224, with 24 it is 112, and a block's largest number is 6 in both.
TEST(QuantisedParameters, OfFourBitsHaveTwoScales) {
  auto model = model_of(Recipe::nvfp4, moving_by(12.0F));
  auto const first = model.quantised(0);
  EXPECT_EQ(first.scale_codes, (Codes{126, 110}));
  EXPECT_EQ(first.scales, (Values{2.0F, 0.5F}));
  EXPECT_EQ(first.amax, 12.0F);
  EXPECT_EQ(codes_of(model, Recipe::nvfp4), (Codes{7, 7, 4}));
  step(model, {{0, -1.0F}});
  EXPECT_EQ(model.quantised(0).scale_codes, (Codes{126, 102}));
  EXPECT_EQ(model.quantised(0).scales, (Values{4.0F, 0.5F}));
  EXPECT_EQ(model.quantised(0).amax, 24.0F);
  EXPECT_EQ(values_at(model, Recipe::nvfp4), (Values{24.0F, 3.0F, 1.0F}));
  step(model, {{0, 1.0F}});
  EXPECT_TRUE(same(model.quantised(0), first));
}

// The 14 of the beginning counts for 16 quantisations, of which it is one.
TEST(QuantisedParameters, AHistoryForgetsAfterSixteen) {
  auto model =
      model_of(spec_of(case_of(Recipe::fp8_delayed)), {{0, 14.0F}, {1, 1.0F}}, moving_by(13.0F));
  step(model, {{0, 1.0F}});
  for (int t = 2; t <= 15; ++t) step(model, {});
  EXPECT_EQ(held(model, TensorKind::main)[0], 1.0F);
  EXPECT_EQ(model.delayed_scale(0).history.front(), 14.0F);
  EXPECT_EQ(model.delayed_scale(0).next, 32.0F);
  step(model, {});
  EXPECT_EQ(model.delayed_scale(0).history.front(), 1.0F);
  EXPECT_EQ(model.delayed_scale(0).next, 448.0F);
  EXPECT_EQ(model.quantised(0).scales, Values{1.0F / 32});
  step(model, {});
  EXPECT_EQ(model.quantised(0).scales, Values{1.0F / 448});
  EXPECT_EQ(model.quantised(0).codes, (Codes{0x7e, 0x7e, 0, 0}));
}

TEST(QuantisedParameters, StayWhereNothingIsStepped) {
  auto model = model_of(spec_of(case_of(Recipe::fp8_delayed)), {{0, 7.0F}}, moving_by(7.0F),
                        {.kind = LossScale::Kind::fixed, .value = 1.0F});
  auto const expect_first = [&] {
    EXPECT_EQ(model.quantised(0).scales, Values{1.0F});
    EXPECT_EQ(model.quantised(0).codes, (Codes{0x4e, 0, 0, 0}));
    EXPECT_EQ(model.delayed_scale(0).next, 64.0F);
    EXPECT_EQ(model.delayed_scale(0).history[14], 0.0F);
  };
  model.step();
  expect_first();
  step(model, {{1, inf}});
  EXPECT_TRUE(model.scaling().skipped);
  expect_first();
  step(model, {});
  EXPECT_EQ(model.quantised(0).scales, Values{1.0F / 64});
}

TEST(QuantisedParameters, WrittenAnewAreAsTheyWereInitially) {
  auto model = model_of(Recipe::fp8_delayed);
  auto const first = model.quantised(0);
  auto const delayed = model.delayed_scale(0);
  step(model, {{0, -1.0F}});
  model.write_parameter(0, Values{7.0F, -3.5F, 1.0F, 0.3F});
  EXPECT_TRUE(same(model.quantised(0), first));
  EXPECT_EQ(model.delayed_scale(0), delayed);
}

// ---- checkpoints -------------------------------------------------------------------------------

Model empty_model(Formats const& formats, std::vector<std::int64_t> shape = {2, 2}) {
  return Model({.parameters = {{.name = "w", .shape = std::move(shape), .formats = formats}},
                .groups = {moving_by(7.0F)}});
}

Formats under(Recipe recipe) {
  return {.main = NumberFormat::fp32, .recipe = recipe};
}

// What reading fp8_delayed gave after one step, 7, is not what a fresh quantisation of 14 would.
TEST(LoadsOfQuantised, KeepEverythingUnderTheSameRecipe) {
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4}) {
    auto model = model_of(recipe);
    step(model, {{0, -1.0F}});
    auto loaded = empty_model(under(recipe), case_of(recipe).shape);
    loaded.load(model.save());
    EXPECT_TRUE(same(loaded.quantised(0), model.quantised(0))) << name_of(recipe);
    EXPECT_EQ(held(loaded, TensorKind::parameter), held(model, TensorKind::parameter));
    EXPECT_EQ(held(loaded, TensorKind::main), held(model, TensorKind::main));
    if (recipe == Recipe::fp8_delayed) {
      EXPECT_EQ(loaded.delayed_scale(0), model.delayed_scale(0));
    }
    for (auto* const each : {&model, &loaded}) step(*each, {{1, 1.0F}});
    EXPECT_TRUE(same(loaded.quantised(0), model.quantised(0))) << name_of(recipe);
  }
}

TEST(LoadsOfQuantised, QuantiseTheMainWeightOfAnotherRecipe) {
  auto model = model_of(Recipe::fp8_current);
  step(model, {{0, -1.0F}});
  auto loaded = empty_model(under(Recipe::fp8_delayed));
  loaded.load(model.save());
  EXPECT_EQ(loaded.quantised(0).codes, (Codes{0x56, 0xc6, 0x38, 0x2a}));
  DelayedScale initial{.next = 32.0F};
  initial.history[15] = 14.0F;
  EXPECT_EQ(loaded.delayed_scale(0), initial);
  EXPECT_EQ(held(loaded, TensorKind::main), (Values{14.0F, -3.5F, 1.0F, 0.3F}));
}

TEST(LoadsOfQuantised, QuantiseWhatWasPlain) {
  Values const weights = {7.0F, -3.5F, 1.0F, 0.3F};
  for (Formats const& plain :
       {Formats{}, Formats{.parameter = NumberFormat::bf16, .main = NumberFormat::fp32}}) {
    auto saving = empty_model(plain);
    auto saved = saving.save();
    if (plain.main)
      saved.set(0, TensorKind::main, NumberFormat::fp32, weights);
    else
      saved.set(0, TensorKind::parameter, NumberFormat::fp32, weights);
    auto loaded = empty_model(under(Recipe::fp8_current));
    loaded.load(saved);
    EXPECT_EQ(held(loaded, TensorKind::main), weights);
    EXPECT_EQ(loaded.quantised(0).codes, (Codes{0x7e, 0xf6, 0x68, 0x5a}));
    EXPECT_EQ(held(loaded, TensorKind::parameter)[3], 0.3125F);
  }
}

TEST(LoadsOfQuantised, LeaveAPlainModelTheMainWeight) {
  auto const saved = model_of(Recipe::fp8_current).save();
  auto plain = empty_model({});
  plain.load(saved);
  EXPECT_EQ(held(plain, TensorKind::parameter), (Values{7.0F, -3.5F, 1.0F, 0.3F}));
  auto narrow = empty_model({.parameter = NumberFormat::bf16, .main = NumberFormat::fp32});
  narrow.load(saved);
  EXPECT_EQ(held(narrow, TensorKind::parameter)[3], 0x1.34p-2F);
  EXPECT_EQ(held(narrow, TensorKind::main)[3], 0.3F);
}

TEST(LoadsOfQuantised, TakeWhatFilesSay) {
  auto saved = empty_model({}).save();
  MatrixShape const shape{.rows = 2, .columns = 2};
  Values const apart{224.0F, -112.0F, 32.0F, 11.0F};  // from what reading gives
  saved.set(0, TensorKind::parameter, NumberFormat::fp8, apart);
  saved.set_quantised(0, Recipe::fp8_current, shape,
                      {.codes = {0x7e, 0xf6, 0x68, 0x5a}, .scales = {0.5F}});
  saved.set(0, TensorKind::main, NumberFormat::fp32, Values{1.0F, 2.0F, 3.0F, 4.0F});
  auto same_recipe = empty_model(under(Recipe::fp8_current));
  same_recipe.load(saved);
  EXPECT_EQ(held(same_recipe, TensorKind::parameter), (Values{224.0F, -112.0F, 32.0F, 10.0F}));
  EXPECT_EQ(held(same_recipe, TensorKind::main), (Values{1.0F, 2.0F, 3.0F, 4.0F}));
  saved.drop_main(0);
  auto plain = empty_model({});
  plain.load(saved);
  EXPECT_EQ(held(plain, TensorKind::parameter), apart);
  saved.set(0, TensorKind::parameter, NumberFormat::fp32, Values{1.0F, 2.0F, 3.5F, 7.0F});
  same_recipe.load(saved);
  EXPECT_EQ(held(same_recipe, TensorKind::parameter), (Values{1.0F, 2.0F, 3.5F, 7.0F}));
  EXPECT_EQ(same_recipe.quantised(0).codes, (Codes{0x68, 0x70, 0x76, 0x7e}));
}

// 448 / 7 and 448 / 3.5 are powers of two, and codes have four bits: all but 0.3 are exact.
TEST(LoadsOfQuantised, ThatMayNotRoundAreFound) {
  auto const rounded_by = [](Model::Saved const& saved, Formats const& formats,
                             std::vector<TensorKind> const& kinds) {
    return empty_model(formats).rounded_by(saved, {kinds});
  };
  auto const saved = model_of(Recipe::fp8_current).save();
  EXPECT_FALSE(rounded_by(saved, under(Recipe::fp8_current), {}));
  EXPECT_EQ(rounded_by(saved, under(Recipe::fp8_delayed), {})->kind, TensorKind::parameter);
  EXPECT_FALSE(rounded_by(saved, under(Recipe::fp8_delayed), {TensorKind::parameter}));
  EXPECT_FALSE(rounded_by(saved, {}, {})) << "the main weight has its place in the parameter";
  EXPECT_TRUE(rounded_by(saved, {.parameter = NumberFormat::bf16}, {}));
  auto plain = empty_model({});
  plain.write_parameter(0, Values{7.0F, -3.5F, 1.0F, 0.3F});
  EXPECT_EQ(rounded_by(plain.save(), under(Recipe::fp8_current), {})->kind, TensorKind::parameter);
  plain.write_parameter(0, Values{7.0F, -3.5F, 1.0F, 0.5F});
  EXPECT_FALSE(rounded_by(plain.save(), under(Recipe::fp8_current), {}));
}

}  // namespace
}  // namespace adamant::oracle
