#include "scenarios/engines/precision_table.h"

#include <fmt/format.h>

#include "real/quantise/recipe_scales.h"
#include "real/quantise/recipe_shape.h"
#include "real/shard/layout.h"
#include "real/step/traffic.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

std::int64_t bytes_in(Formats const& formats, TensorKind kind) {
  auto const format = real::format_of(formats, kind);
  return format ? static_cast<std::int64_t>(bytes_of(*format)) : 0;
}

/// Of codes; two of nvfp4 share a byte.
std::string parameter_bytes(Formats const& formats) {
  if (formats.recipe == Recipe::nvfp4) return "1/2";
  return fmt::to_string(bytes_of_element(formats).parameter);
}

/// What a step moves beside moments, which the other table has.
std::string row_of(Combination const& combination) {
  Precision const& types = combination.precision;
  Formats const formats = formats_of(combination);
  BytesOfElement const bytes = bytes_of_element(formats);
  real::StepTraffic const traffic = real::traffic_of_step(formats);
  auto const moments = static_cast<std::size_t>(bytes.exp_avg + bytes.exp_avg_sq);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", word_for(types.param),
                     word_for(types.main), word_for(types.grad), combination.decoupled_grad,
                     parameter_bytes(formats), bytes.main, bytes.gradient, bytes.cast_gradient,
                     traffic.read - moments, traffic.written - moments);
}

std::string refused_row(Precision const& types, TypeConflict const& conflict) {
  return fmt::format("| {} | {} | any | any | refused, `unsupported.{}`: {} | | | | | |\n",
                     word_for(types.param), word_for(types.main), conflict.detail, conflict.why);
}

std::string rows_of(ParamType param, MainType main) {
  Precision const types{.param = param, .main = main};
  if (auto const conflict = conflict_in(types)) return refused_row(types, *conflict);
  std::string rows;
  for (GradType const grad : every<GradType>())
    for (bool const decoupled : {true, false})
      rows += row_of(
          {.precision = {.param = param, .grad = grad, .main = main}, .decoupled_grad = decoupled});
  return rows;
}

}  // namespace

std::vector<Combination> all_combinations() {
  std::vector<Combination> all;
  for (ParamType const param : every<ParamType>())
    for (MainType const main : every<MainType>())
      for (GradType const grad : every<GradType>())
        for (bool const decoupled : {true, false})
          for (StateType const exp_avg : every<StateType>())
            for (StateType const exp_avg_sq : every<StateType>())
              all.push_back({.precision = {.param = param,
                                           .grad = grad,
                                           .main = main,
                                           .exp_avg = exp_avg,
                                           .exp_avg_sq = exp_avg_sq},
                             .decoupled_grad = decoupled});
  return all;
}

Formats formats_of(Combination const& combination) {
  Scenario scenario;
  scenario.precision = combination.precision;
  scenario.optimizer.decoupled_grad = combination.decoupled_grad;
  scenario.params = {{.name = "w", .shape = {recipe_side, recipe_side}}};
  return parameter_specs(scenario).front().formats;
}

BytesOfElement bytes_of_element(Formats const& formats) {
  std::int64_t const codes = formats.recipe ? real::code_bytes(*formats.recipe, 1) : 0;
  return {.parameter = formats.recipe ? codes : bytes_in(formats, TensorKind::parameter),
          .gradient = bytes_in(formats, TensorKind::gradient),
          .main = bytes_in(formats, TensorKind::main),
          .cast_gradient = bytes_in(formats, TensorKind::cast_gradient),
          .exp_avg = bytes_in(formats, TensorKind::exp_avg),
          .exp_avg_sq = bytes_in(formats, TensorKind::exp_avg_sq)};
}

std::string weights_table() {
  std::string table =
      "| `param` | `main` | `grad` | `decoupled_grad` | parameter | main | gradient | cast copy | "
      "a step reads | and writes |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (ParamType const param : every<ParamType>())
    for (MainType const main : every<MainType>()) table += rows_of(param, main);
  return table;
}

BytesOfRecipe bytes_of_recipe(Recipe recipe) {
  real::RecipeShape const shape = {
      .numel = recipe_side * recipe_side, .columns = recipe_side, .recipe = recipe};
  constexpr auto number = static_cast<std::int64_t>(sizeof(float));
  std::int64_t const codes = real::code_bytes(recipe, shape.numel);
  std::int64_t const delayed =
      recipe == Recipe::fp8_delayed ? static_cast<std::int64_t>(sizeof(real::DelayedScale)) : 0;
  return {.gathered = codes + real::scale_codes_beside(recipe, shape.numel),
          .scales = 2 * real::padded(number * real::maxima_count(shape)) +
                    real::padded(number * real::scale_count(shape)) +
                    real::padded(real::scale_code_count(shape)) + real::padded(delayed),
          .read = number * shape.numel * (real::is_read_twice({.recipe = recipe}) ? 2 : 1),
          .written = codes};
}

std::string recipes_table() {
  std::string table = fmt::format(
      "| `param` | both sides are multiples of | of {0} x {0}: gathered | scales beside | "
      "quantising reads | and writes |\n|---|---|---|---|---|---|\n",
      recipe_side);
  for (ParamType const param : every<ParamType>()) {
    auto const recipe = recipe_of(param);
    if (!recipe) continue;
    BytesOfRecipe const bytes = bytes_of_recipe(*recipe);
    table +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", word_for(param), real::side_of(*recipe),
                    bytes.gathered, bytes.scales, bytes.read, bytes.written);
  }
  return table;
}

std::string moments_table() {
  std::string table =
      "| a moment in | bytes | a step reads | and writes | before it, for the scale, it reads |\n"
      "|---|---|---|---|---|\n";
  for (StateType const type : every<StateType>()) {
    Formats const formats = formats_of({.precision = {.exp_avg = type}});
    std::int64_t const bytes = bytes_of_element(formats).exp_avg;
    bool const scaled = has_scale(TensorKind::exp_avg, formats.exp_avg);
    table += fmt::format("| {} | {} | {} | {} | {} |\n", word_for(type), bytes, bytes, bytes,
                         scaled ? "it and the gradient; the weight under L2" : "nothing");
  }
  return table;
}

}  // namespace adamant::scenarios
