// Bugs are switched on for one run and gone after it, in large models too. What each of them breaks
// is the law book's part (properties/negative).
#include <gtest/gtest.h>

#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

// Large models are judged on several threads, each operation by its own tensors alone.
TEST(Bugs, AreNoticedInALargeModelToo) {
  Scenario scenario = small_scenario();
  scenario.world.shard = 2;
  scenario.groups.clear();
  scenario.params = {parameter("wide", {1100, 1000}), parameter("long", {70'001})};
  scenario.program = {operation(Train{2})};
  RunOptions options;
  options.engine = "sim-unchecked";
  EXPECT_EQ(run_scenario(scenario, options).outcome, Outcome::pass);
  for (char const* const bug :
       {"mean_not_divided", "epsilon_inside_root", "moments_swapped", "shard_off_by_one_row"}) {
    options.bug = bug;
    RunResult const result = run_scenario(scenario, options);
    EXPECT_EQ(result.outcome, Outcome::violated) << bug;
    ASSERT_FALSE(result.violations.empty()) << bug;
    EXPECT_EQ(result.violations.front().law, Law::values_bitwise) << bug;
  }
}

// No step reads the counter that is not asked for; files have it, for who loads them.
TEST(Bugs, OfACounterThatOnlyFilesHaveIsSeenInThem) {
  Scenario scenario = small_scenario();
  scenario.optimizer.step_counter = StepCounter::parameter;
  scenario.program = {operation(Train{1}), operation(Save{"a"})};
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass);
  scenario.bug = "flashlight_143";
  RunResult const result = run_scenario(scenario);
  ASSERT_EQ(result.outcome, Outcome::violated);
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_roundtrip);
}

TEST(Bugs, AnUnknownOneIsNotInThisProgramsEngine) {
  RunOptions options;
  options.bug = "no_such_bug";
  EXPECT_THROW(run_scenario(small_scenario(), options), MachineLacks);
}

TEST(Bugs, AreWhatTheScenarioOrTheCallerSays) {
  Scenario scenario = small_scenario();
  scenario.bug = "mean_not_divided";
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::violated);
  RunOptions options;
  options.bug = "mean_not_divided";
  EXPECT_EQ(run_scenario(small_scenario(), options).outcome, Outcome::violated);
  EXPECT_EQ(run_scenario(small_scenario()).outcome, Outcome::pass) << "it outlived its run";
}

TEST(Bugs, OfTwoRunsAreSeenWhereRunsAreRepeated) {
  Scenario scenario = small_scenario();
  scenario.bug = "order_from_leftover_state";
  RunOptions options;
  options.repeat = true;
  RunResult const result = run_scenario(scenario, options);
  ASSERT_EQ(result.violations.size(), 1U);
  EXPECT_EQ(result.violations.front().law, Law::determinism_digest);
}

}  // namespace
}  // namespace adamant::scenarios
