// The runner on this machine's GPUs: the same scenarios, the same oracle, the same bits.
#include <gtest/gtest.h>

#include "scenarios/engines/cuda/machine.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

std::string why_not() {
  return lacks(machine_here());
}

std::string summary(RunResult const& result) {
  return result.violations.empty() ? result.reason + " " + message_of(result)
                                   : in_one_line(result.violations[0]);
}

TEST(CudaRun, AgreesWithTheOracleForEveryClassOfGradients) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  for (auto const kind : {GradientClass::exact, GradientClass::normal, GradientClass::wild}) {
    Scenario scenario = small_scenario();
    scenario.gradients = kind;
    RunResult const result = run_scenario(scenario);
    EXPECT_EQ(result.outcome, Outcome::pass) << summary(result);
    EXPECT_EQ(result.engine, "cuda");
  }
}

TEST(CudaRun, OneRankUsesNccl) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  Scenario scenario = small_scenario();
  scenario.world.shard = 1;
  EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass);
}

TEST(CudaRun, GoesOnInOtherWorldsFromWhatItSaved) {
  if (auto const reason = why_not(); !reason.empty()) GTEST_SKIP() << reason;
  Scenario scenario = small_scenario();
  scenario.program = {operation(Train{2}), operation(Save{"a"})};
  for (std::int64_t const ranks : {3, 1, 2}) {
    scenario.program.push_back(operation(Load{.from = "a", .world = World{.shard = ranks}}));
    scenario.program.push_back(operation(Train{1}));
    scenario.program.push_back(operation(Save{"a"}));
  }
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::pass) << summary(result);
}

TEST(CudaRun, WithoutAGpuSaysWhatIsMissing) {
  std::string const reason = why_not();
  if (reason.empty()) GTEST_SKIP() << "this machine has a GPU";
  try {
    run_scenario(small_scenario());
    FAIL() << "ran without a GPU";
  } catch (MachineLacks const& error) {
    EXPECT_EQ(error.what(), reason);
  }
}

}  // namespace
}  // namespace adamant::scenarios
