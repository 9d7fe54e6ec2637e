// Every combination of number formats works as its table says, or is refused as it says.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "oracle/budget/budget.h"
#include "scenarios/engines/precision_table.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

/// A matrix of which two ranks share a block of scales, or of 5 x 3 where no recipe asks for more.
std::vector<std::int64_t> shape_for(ParamType param) {
  std::int64_t const side = block_side(param);
  return side == 1 ? std::vector<std::int64_t>{5, 3} : std::vector{side, side};
}

/// Three parameters, one of them with an empty shard, through two steps on two ranks.
Scenario scenario_of(Combination const& combination) {
  Scenario scenario = small_scenario();
  scenario.world.shard = 2;
  scenario.microbatches = 2;
  scenario.groups.clear();
  scenario.params = {parameter("a", shape_for(combination.precision.param)), parameter("b", {1, 9}),
                     parameter("c", {4})};
  scenario.precision = combination.precision;
  scenario.optimizer.decoupled_grad = combination.decoupled_grad;
  scenario.program = {operation(Train{}), operation(Train{})};
  return scenario;
}

std::string name_of(Combination const& combination) {
  Scenario const scenario = scenario_of(combination);
  std::ostringstream text;
  Formats const formats = parameter_specs(scenario).front().formats;
  text << (formats.recipe ? name_of(*formats.recipe) : name_of(formats.parameter)) << ' '
       << name_of(formats.gradient) << ' ' << (formats.main ? name_of(*formats.main) : "none")
       << ' ' << name_of(formats.exp_avg) << ' ' << name_of(formats.exp_avg_sq)
       << (combination.decoupled_grad ? "" : " coupled");
  return text.str();
}

TEST(Precision, EveryCombinationWorksOrIsRefusedAsTheTableSays) {
  for (Combination const& combination : all_combinations()) {
    Scenario scenario = scenario_of(combination);
    auto const conflict = conflict_in(combination.precision);
    for (StateScale const scale : {StateScale::global, StateScale::local}) {
      if (scale == StateScale::local && !has_scaled_state(combination.precision)) continue;
      scenario.precision.state_scale = scale;
      RunResult const result = run_scenario(scenario);
      if (conflict)
        EXPECT_EQ(result.reason, "unsupported." + std::string(conflict->detail));
      else
        EXPECT_EQ(result.outcome, Outcome::pass) << name_of(combination) << ": " << result.message;
    }
  }
}

TEST(Precision, TheTableHasTheOraclesBytes) {
  constexpr std::int64_t numel = recipe_side * recipe_side;  // of no padding in any format
  for (Combination const& combination : all_combinations()) {
    if (conflict_in(combination.precision)) continue;
    Formats const formats = formats_of(combination);
    ParameterSpec const spec{.name = "w", .shape = {recipe_side, recipe_side}, .formats = formats};
    oracle::Budget budget(LayoutKind::fsdp2, std::span(&spec, 1), {}, 0);
    budget.backward({});
    auto const bytes = [&](Purpose purpose) { return budget.device_bytes(purpose) / numel; };
    BytesOfElement const stored = bytes_of_element(formats);
    if (formats.recipe) {
      BytesOfRecipe const quantised = bytes_of_recipe(*formats.recipe);
      EXPECT_EQ(quantised.gathered, budget.device_bytes(Purpose::parameters));
      EXPECT_EQ(quantised.gathered, budget.peak_bytes(Purpose::unsharded_parameters));
      EXPECT_EQ(quantised.scales, budget.device_bytes(Purpose::parameter_scales));
    } else {
      EXPECT_EQ(stored.parameter, bytes(Purpose::parameters)) << name_of(combination);
    }
    EXPECT_EQ(stored.gradient, bytes(Purpose::gradients)) << name_of(combination);
    EXPECT_EQ(stored.main, bytes(Purpose::main)) << name_of(combination);
    EXPECT_EQ(stored.cast_gradient, bytes(Purpose::cast_gradients)) << name_of(combination);
    EXPECT_EQ(stored.exp_avg, bytes(Purpose::exp_avg)) << name_of(combination);
    EXPECT_EQ(stored.exp_avg_sq, bytes(Purpose::exp_avg_sq)) << name_of(combination);
  }
}

TEST(Precision, TheTablesStandInTheDocument) {
  std::ostringstream text;
  text << std::ifstream(ADAMANT_SOURCE_DIR "/scenarios/PRECISION.md").rdbuf();
  EXPECT_NE(text.str().find(weights_table()), std::string::npos)
      << "scenarios/PRECISION.md should show\n"
      << weights_table();
  EXPECT_NE(text.str().find(recipes_table()), std::string::npos)
      << "scenarios/PRECISION.md should show\n"
      << recipes_table();
  EXPECT_NE(text.str().find(moments_table()), std::string::npos)
      << "scenarios/PRECISION.md should show\n"
      << moments_table();
}

}  // namespace
}  // namespace adamant::scenarios
