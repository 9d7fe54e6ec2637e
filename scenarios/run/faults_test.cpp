// Every mistake that the engine can be told to make (real/fault.h) breaks the law that it names, in
// a scenario that passes without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>

#include "real/fault.h"
#include "scenarios/model/laws.h"
#include "scenarios/run/run.h"
#include "scenarios/run/testing/small_scenario.h"
#include "sim/sim.h"

namespace adamant::real {

void PrintTo(FaultInfo const& fault, std::ostream* out) {
  *out << fault.name << ", which breaks " << fault.law;
}

}  // namespace adamant::real

namespace adamant::scenarios {
namespace {

/// One parameter on two ranks under a program of its own.
Scenario tiny(std::vector<Operation> program) {
  Scenario scenario = small_scenario();
  scenario.world.shard = 2;
  scenario.params = {parameter("weight", {5, 3})};
  scenario.groups.clear();
  scenario.program = std::move(program);
  return scenario;
}

/// Where the small scenario does not show a fault, one that does, and why.
Scenario scenario_for(std::string_view fault) {
  if (fault == "idle_rank_sends_garbage") {  // needs a rank without a microbatch
    Scenario scenario = small_scenario();
    scenario.microbatches = 3;
    return scenario;
  }
  if (fault ==
      "gradient_used_after_zero_grad")  // nothing may take the freed memory before the step
    return tiny({operation(Backward{}), operation(ZeroGrad{true}), operation(Step{})});
  if (fault == "decay_without_gradient") {  // a moved value, and a step without its gradient
    Scenario scenario = small_scenario();
    scenario.program = {operation(Backward{.without = {"h.1.weight"}}), operation(Step{})};
    return scenario;
  }
  if (fault == "zero_grad_skips_missing") {  // one parameter has a gradient, another none
    Scenario scenario = small_scenario();
    scenario.program = {operation(Backward{.without = {"h.1.weight"}}), operation(ZeroGrad{false})};
    return scenario;
  }
  return small_scenario();
}

std::string summary(RunResult const& result) {
  std::string text = result.reason + " " + result.message;
  for (ViolationReport const& violation : result.violations)
    text += "\n" + violation.law + " at " + std::to_string(violation.operation) + ": " +
            violation.tensor + " " + violation.message;
  return text;
}

/// Can this law be judged in this build? Accesses need the compiler's instrumentation.
bool judged_here(std::string_view law) {
  return sim::can_check || !(matches("access", law) || law == "order.race");
}

class EveryFault : public testing::TestWithParam<real::FaultInfo> {};

TEST_P(EveryFault, BreaksItsLaw) {
  if (!judged_here(GetParam().law)) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  RunOptions options;
  options.fault = GetParam().name;
  // A law about two runs needs a second one.
  options.schedules = GetParam().law == "determinism.digest" ? 1 : 0;
  RunResult const result = run_scenario(scenario_for(GetParam().name), options);
  EXPECT_EQ(result.outcome, Outcome::violated) << summary(result);
  EXPECT_TRUE(
      std::any_of(result.violations.begin(), result.violations.end(),
                  [](ViolationReport const& violation) { return violation.law == GetParam().law; }))
      << GetParam().text << " should break " << GetParam().law << summary(result);
}

TEST_P(EveryFault, IsMissedByNoOneWhoDoesNotMakeIt) {
  RunResult const result = run_scenario(scenario_for(GetParam().name));
  EXPECT_EQ(result.outcome, Outcome::pass) << summary(result);
  EXPECT_TRUE(result.met);
}

INSTANTIATE_TEST_SUITE_P(Run, EveryFault, testing::ValuesIn(real::all_faults()),
                         [](testing::TestParamInfo<real::FaultInfo> const& fault) {
                           std::string name;
                           bool upper = true;
                           for (char const c : fault.param.name) {
                             if (c != '_') name += upper ? static_cast<char>(std::toupper(c)) : c;
                             upper = c == '_';
                           }
                           return name;
                         });

// Large models are judged on several threads, each operation by its own tensors alone.
TEST(Faults, AreNoticedInALargeModelToo) {
  Scenario scenario = tiny({operation(Train{2})});
  scenario.params = {parameter("wide", {1100, 1000}), parameter("long", {70'001})};
  RunOptions options;
  options.engine = "sim-unchecked";
  EXPECT_EQ(run_scenario(scenario, options).outcome, Outcome::pass);
  for (char const* const fault :
       {"mean_not_divided", "epsilon_inside_root", "moments_swapped", "shard_off_by_one_row"}) {
    options.fault = fault;
    RunResult const result = run_scenario(scenario, options);
    EXPECT_EQ(result.outcome, Outcome::violated) << fault;
    ASSERT_FALSE(result.violations.empty()) << fault;
    EXPECT_EQ(result.violations.front().law, "values.bitwise") << fault;
  }
}

TEST(Faults, AnUnknownOneIsSaid) {
  RunOptions options;
  options.fault = "no_such_fault";
  EXPECT_THROW(run_scenario(small_scenario(), options), MachineLacks);
}

TEST(Faults, AreGoneWhenTheRunIsOver) {
  RunOptions options;
  options.fault = "mean_not_divided";
  EXPECT_EQ(run_scenario(small_scenario(), options).outcome, Outcome::violated);
  EXPECT_EQ(run_scenario(small_scenario()).outcome, Outcome::pass);
}

}  // namespace
}  // namespace adamant::scenarios
