#include "oracle/explain/step_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/testing/random_values.h"
#include "oracle/torch/torch_step.h"

namespace adamant::oracle {
namespace {

template <typename Choice>
Choice one_of(RandomValues& random, std::initializer_list<Choice> choices) {
  return *(choices.begin() + random.below(choices.size()));
}

/// Types that a model takes, drawn.
Formats formats_of(RandomValues& random) {
  using enum NumberFormat;
  Formats formats;
  constexpr std::nullopt_t none = std::nullopt;
  formats.parameter = one_of(random, {fp32, bf16, fp16});
  formats.gradient = one_of(random, {fp32, bf16});
  formats.exp_avg = one_of(random, {fp32, bf16, fp16, fp8});
  formats.exp_avg_sq = one_of(random, {fp32, bf16, fp16, fp8});
  formats.decoupled_gradient = random.below(2) == 0;
  if (formats.parameter == bf16)
    formats.main = one_of<std::optional<NumberFormat>>(random, {none, fp32, fp16, remainder});
  if (formats.parameter == fp16)
    formats.main = one_of<std::optional<NumberFormat>>(random, {none, fp32, bf16});
  if (random.below(3) != 0) return formats;
  formats.recipe = one_of(random, {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                                   Recipe::mxfp8, Recipe::nvfp4});
  formats.main = fp32;
  return formats;
}

AdamConfig config_of(RandomValues& random) {
  return {.mode = one_of(random, {AdamMode::adamw, AdamMode::adam}),
          .learning_rate = one_of(random, {1e-3F, 0.5F}),
          .beta1 = one_of(random, {0.9F, 0.25F}),
          .beta2 = one_of(random, {0.999F, 0.0F}),
          .weight_decay = one_of(random, {0.0F, 0.01F}),
          .bias_correction = random.below(4) != 0};
}

/// A model of one parameter that has a gradient, after a few steps.
Model drawn_model(RandomValues& random) {
  Formats const formats = formats_of(random);
  std::vector<std::int64_t> const shape =
      formats.recipe ? std::vector<std::int64_t>{128, 128} : std::vector<std::int64_t>{5, 7};
  LossScale const none, fixed{.kind = LossScale::Kind::fixed, .value = 3.0F};
  Model model({.parameters = {{.name = "w", .shape = shape, .formats = formats}},
               .groups = {config_of(random)},
               .loss_scale = one_of(random, {none, fixed}),
               .max_norm = 0.5F});
  auto const numel = static_cast<std::size_t>(model.spec(0).numel());
  auto const numbers = [&](int exponent) {
    std::vector<float> values;
    for (std::size_t i = 0; i < numel; ++i) values.push_back(random.scaled(exponent - 6, exponent));
    return values;
  };
  bool const apart = formats.state_scale == StateScale::global && random.below(2) == 0;
  auto const end = static_cast<std::int64_t>(numel);
  if (apart) model.share_scales(0, {{{0, 13}}, {{13, end}}, {}});
  model.write_parameter(0, numbers(0));
  auto const backward = [&] {
    model.begin_backward();
    model.zero_grad(true);
    model.add_gradient(0, numbers(-3));
    if (random.below(2) == 0) model.clip();
  };
  for (auto steps = random.below(3); steps > 0; --steps) {
    backward();
    model.step();
  }
  backward();
  return model;
}

std::string text_of(Trace const& trace) {
  std::string text;
  for (Rounding const& each : trace.roundings())
    text += each.result + " = " + each.formula + " -> " + std::to_string(each.value) + "\n";
  return text;
}

TEST(StepTrace, ComesToTheBitsOfTheModelForEveryElementAndType) {
  RandomValues random(3);
  for (int drawn = 0; drawn < 400; ++drawn) {
    Model const before = drawn_model(random);
    Model after = before;
    after.step();
    for (TensorKind const kind :
         {TensorKind::parameter, TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
      auto const right = after.tensor(0, kind);
      for (int tried = 0; tried < 4 && !right.empty(); ++tried) {
        auto const index = random.below(right.size());
        Trace trace;
        auto const came = trace_step(trace, before, {0, kind, static_cast<std::int64_t>(index)});
        ASSERT_TRUE(came.has_value());
        ASSERT_EQ(ulp_distance(came->fp32(), right[index]), 0U)
            << drawn << " " << name_of(kind) << "[" << index << "]\n"
            << text_of(trace);
      }
    }
  }
}

TEST(StepTrace, SaysNothingOfAStepThatPassesOver) {
  Model model({.parameters = {{.name = "w", .shape = {1}}}, .groups = {{}}});
  Trace trace;
  EXPECT_FALSE(trace_step(trace, model, {}).has_value());
  EXPECT_TRUE(trace.roundings().empty());
}

// By hand: 0.5 / 3 is between two numbers; 1 + 2^-24 is half-way between two.
TEST(Trace, TellsTheDistanceFromTheExactResult) {
  Trace trace;
  trace.sum("a", trace.given("x", 1), trace.given("y", 0x1p-24));
  EXPECT_EQ(trace.roundings().back().exact, 1 + 0x1p-24);
  EXPECT_EQ(trace.roundings().back().distance, -0.5);
  trace.quotient("b", trace.given("x", 1), trace.given("y", 3));
  EXPECT_FALSE(trace.roundings().back().exact.has_value());
  EXPECT_NEAR(*trace.roundings().back().distance, 1.0 / 3, 1e-6);
  trace.product("c", trace.given("x", 0.1F), trace.given("y", 10));
  EXPECT_TRUE(trace.roundings().back().exact.has_value());
  trace.root("d", trace.given("x", 4));
  EXPECT_EQ(trace.roundings().back().distance, 0.0);
  trace.quotient("e", trace.given("x", 1), trace.given("y", 0));
  EXPECT_FALSE(trace.roundings().back().distance.has_value());
  trace.rounded("f", trace.given("x", 1 + 0x1p-8), NumberFormat::bf16);
  EXPECT_EQ(trace.roundings().back().distance, -0.5);
}

TEST(Trace, PutsSumsInParenthesesWhereTheyAreFactors) {
  Trace trace;
  trace.product("a", trace.sum("x + y", trace.given("x", 1), trace.given("y", 2)),
                trace.given("z", 3));
  EXPECT_EQ(trace.roundings().back().formula, "(x + y) * z");
}

SeenStep drawn_step(RandomValues& random) {
  SeenStep seen;
  seen.config = config_of(random);
  seen.step = 1 + static_cast<int>(random.below(9));
  seen.before = {.gradient = random.scaled(-9, 1),
                 .weight = random.scaled(-9, 1),
                 .exp_avg = random.scaled(-9, 1),
                 .exp_avg_sq = std::abs(random.scaled(-9, 1))};
  seen.exp_avg = random.scaled(-9, 1);
  seen.exp_avg_sq = std::abs(random.scaled(-9, 1));
  return seen;
}

TEST(StepTrace, ComesToPyTorchsBits) {
  RandomValues random(5);
  for (int drawn = 0; drawn < 2000; ++drawn) {
    SeenStep const seen = drawn_step(random);
    TorchStep const step(seen.config, seen.step);
    TorchStep::Before const before{.gradient = seen.before.gradient,
                                   .weight = seen.before.weight,
                                   .exp_avg = seen.before.exp_avg,
                                   .exp_avg_sq = seen.before.exp_avg_sq};
    Trace m, v, p;
    EXPECT_EQ(trace_torch(m, seen, TensorKind::exp_avg), only(step.exp_avg(before)));
    EXPECT_EQ(trace_torch(v, seen, TensorKind::exp_avg_sq), only(step.exp_avg_sq(before)));
    Admissible const weights = trace_torch(p, seen, TensorKind::parameter);
    EXPECT_TRUE(weights.contains(static_cast<float>(p.roundings().back().value)));
  }
}

// The exact result lies in the interval, and the interval is the judge's.
TEST(StepTrace, OfAnyOrderHasTheExactResultInTheIntervalOfTheJudge) {
  RandomValues random(7);
  for (int drawn = 0; drawn < 2000; ++drawn) {
    SeenStep const seen = drawn_step(random);
    StepBounds const bounds(seen.config, seen.step, {});
    for (TensorKind const kind :
         {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq}) {
      Trace trace;
      Admissible const interval = trace_any_order(trace, seen, {}, kind);
      Admissible const right =
          kind == TensorKind::exp_avg ? bounds.exp_avg(seen.before)
          : kind == TensorKind::exp_avg_sq
              ? bounds.exp_avg_sq(seen.before)
              : bounds.weight(seen.before.weight, seen.exp_avg, seen.exp_avg_sq);
      EXPECT_EQ(interval, right);
      EXPECT_TRUE(interval.contains(static_cast<float>(trace.roundings().back().value)));
    }
  }
}

}  // namespace
}  // namespace adamant::oracle
