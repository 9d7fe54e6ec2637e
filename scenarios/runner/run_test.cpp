#include "scenarios/runner/run.h"
#include "scenarios/report/words/sentences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

RunOptions on(std::string engine) {
  RunOptions options;
  options.engine = std::move(engine);
  return options;
}

TEST(Run, TheRightEnginePassesOnBothVariants) {
  for (char const* engine : {"sim", "sim-unchecked"}) {
    RunResult const result = run_scenario(small_scenario(), on(engine));
    EXPECT_EQ(result.outcome, Outcome::pass) << engine;
    EXPECT_TRUE(result.met);
    EXPECT_EQ(result.engine, engine);
    EXPECT_EQ(result.operations, 12);
    EXPECT_GT(result.device_peak_bytes, 0U);
    EXPECT_GT(result.simulated_seconds, 0.0);
  }
}

TEST(Run, RanksThatShareADeviceBringTheirOwnCollectives) {
  RunOptions options;
  options.loopback = true;
  EXPECT_EQ(run_scenario(small_scenario(), options).outcome, Outcome::pass);
}

TEST(Run, AnyClassOfGradientsPasses) {
  for (auto const kind : {GradientClass::exact, GradientClass::normal, GradientClass::wild}) {
    Scenario scenario = small_scenario();
    scenario.gradients = kind;
    RunResult const result = run_scenario(scenario);
    EXPECT_EQ(result.outcome, Outcome::pass) << static_cast<int>(kind);
    EXPECT_EQ(result.notes.empty(), kind == GradientClass::exact);
  }
}

// Gradients are made such that their sum is exact; under this scale it rounds.
TEST(Run, ValuesThatDependOnTheScheduleAreNoted) {
  RunOptions options;
  options.schedules = 12;
  for (float const scale : {1024.0F, 1000.3F}) {
    Scenario scenario = small_scenario();
    scenario.gradients = GradientClass::normal;
    scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = scale};
    RunResult const result = run_scenario(scenario, options);
    EXPECT_EQ(result.outcome, Outcome::pass);
    bool const noted = std::ranges::any_of(result.notes, [](std::string const& note) {
      return note.starts_with("values depend on the schedule: ");
    });
    EXPECT_EQ(noted, scale == 1000.3F);
    // Of fifo, one random schedule and one of pct there would be three at most.
    EXPECT_EQ(result.different_values > 3, scale == 1000.3F) << result.different_values;
  }
}

TEST(Run, AnyNumberOfRanksAndMicrobatchesPasses) {
  for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
    for (std::int64_t const microbatches : {1, 2, 5, 16}) {
      Scenario scenario = small_scenario();
      scenario.world.shard = ranks;
      scenario.microbatches = microbatches;
      EXPECT_EQ(run_scenario(scenario).outcome, Outcome::pass) << ranks << " " << microbatches;
    }
  }
}

TEST(Run, TheSameSeedAndScheduleGiveTheSameDigest) {
  RunResult const once = run_scenario(small_scenario());
  RunResult const again = run_scenario(small_scenario());
  EXPECT_EQ(once.digest, again.digest);
  EXPECT_EQ(once.choices, again.choices);

  RunOptions other;
  other.seed = 8;
  EXPECT_NE(run_scenario(small_scenario(), other).digest, once.digest);
}

TEST(Run, FurtherSchedulesAreCountedAndTheFirstFailingOneIsReported) {
  RunOptions options;
  options.schedules = 5;
  EXPECT_EQ(run_scenario(small_scenario(), options).schedules, 6);

  options.bug = "compute_skips_wait_for_gather";
  RunResult const failing = run_scenario(small_scenario(), options);
  EXPECT_EQ(failing.outcome, Outcome::violated);
  EXPECT_FALSE(failing.choices.empty());
}

TEST(Run, WhoWaitsIsToldHowFarItIs) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  RunOptions options;
  options.schedules = 2;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    told.emplace_back(done, total);
  };
  Scenario const scenario = small_scenario();
  ASSERT_EQ(run_scenario(scenario, options).outcome, Outcome::pass);
  ASSERT_FALSE(told.empty());
  std::size_t const operations = told.size() - 1;
  for (std::size_t i = 0; i < told.size(); ++i)
    EXPECT_EQ(told[i], (std::pair<std::uint64_t, std::uint64_t>(i, operations)));
  EXPECT_EQ(operations % 4, 0U);  // its own schedule, that again, and two more
}

TEST(Run, IsRepeatedUnaskedOnlyWhereAnotherDigestIsExpected) {
  auto const operations_expecting = [](char const* law) {
    Scenario scenario = small_scenario();
    scenario.expect = {.kind = Expectation::Kind::violates, .id = law};
    std::uint64_t operations = 0;
    RunOptions options;
    options.progress = [&](std::uint64_t, std::uint64_t total) { operations = total; };
    EXPECT_EQ(run_scenario(scenario, options).outcome, Outcome::pass);
    return operations;
  };
  EXPECT_EQ(operations_expecting("determinism.digest"), 2 * operations_expecting("order.race"));
}

TEST(Run, RecordedChoicesReplayARun) {
  Scenario scenario = small_scenario();
  scenario.schedule.strategy = Schedule::Strategy::random;
  RunResult const recorded = run_scenario(scenario);
  scenario.schedule.choices = recorded.choices;
  EXPECT_EQ(run_scenario(scenario).digest, recorded.digest);
}

TEST(Run, ATooSmallDeviceIsRefusedAsOutOfMemory) {
  RunOptions options;
  options.device_bytes = 1024;
  RunResult const result = run_scenario(small_scenario(), options);
  EXPECT_EQ(result.outcome, Outcome::refused)
      << (result.violations.empty() ? "" : in_one_line(result.violations.front()));
  EXPECT_EQ(result.reason, "out_of_memory");
  EXPECT_FALSE(result.met);

  Scenario expecting = small_scenario();
  expecting.expect = {.kind = Expectation::Kind::refused, .id = "out_of_memory"};
  EXPECT_TRUE(run_scenario(expecting, options).met);
}

TEST(Run, AModelLargerThanThisMachineIsRefusedBeforeItRuns) {
  Scenario scenario = small_scenario();
  scenario.params = {parameter("weight", {1LL << 40, 1LL << 40})};
  scenario.program = {operation(Step{})};
  EXPECT_EQ(run_scenario(scenario).reason, "out_of_memory");
}

TEST(Run, WhatTheEngineDoesNotSupportIsRefused) {
  Scenario scenario = small_scenario();
  scenario.schedule.strategy = Schedule::Strategy::exhaustive;
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::refused);
  EXPECT_EQ(result.reason, "unsupported.schedule");
}

TEST(Run, AnEngineThatIsNotLinkedIsNamed) {
  EXPECT_THROW(run_scenario(small_scenario(), on("cuda")), MachineLacks);
}

TEST(Run, AViolationNamesOperationTensorIndexAndBothValues) {
  RunOptions options;
  options.bug = "settings_frozen";
  RunResult const result = run_scenario(small_scenario(), options);
  ASSERT_EQ(result.outcome, Outcome::violated);
  Violation const& first = result.violations.front();
  EXPECT_EQ(first.law, Law::values_bitwise);
  EXPECT_EQ(first.operation, 6);  // the step after `set`
  EXPECT_EQ(first.subject, Subject(Tensor{.parameter = "embed.weight"}));
  EXPECT_EQ(first.index, 0);
  EXPECT_NE(first.expected, first.actual);
  EXPECT_GT(first.ulp.value_or(0), 0U);
}

TEST(Run, AWrongMeanOfNormalGradientsLeavesItsInterval) {
  Scenario scenario = small_scenario();
  scenario.gradients = GradientClass::normal;
  RunOptions options;
  options.bug = "mean_not_divided";
  RunResult const result = run_scenario(scenario, options);
  ASSERT_EQ(result.outcome, Outcome::violated);
  EXPECT_EQ(result.violations.front().law, Law::values_interval);
  EXPECT_EQ(result.violations.front().operation, 0);
  EXPECT_TRUE(std::holds_alternative<Interval>(result.violations.front().expected));
}

/// More elements than are compared whole after every operation.
Scenario large_scenario() {
  Scenario scenario = small_scenario();
  scenario.params.push_back(parameter("h.2.weight", {1025, 1025}));
  scenario.microbatches = 4;
  return scenario;
}

TEST(Run, LargeModelsAreComparedWhereAnOperationTouchesThem) {
  RunOptions options = on("sim-unchecked");
  EXPECT_EQ(run_scenario(large_scenario(), options).outcome, Outcome::pass);

  options.bug = "decay_after_update";
  RunResult const wrong_step = run_scenario(large_scenario(), options);
  ASSERT_EQ(wrong_step.outcome, Outcome::violated);
  EXPECT_EQ(wrong_step.violations.front().operation, 0);

  options.bug = "zero_grad_keeps_values";
  RunResult const not_zeroed = run_scenario(large_scenario(), options);
  ASSERT_EQ(not_zeroed.outcome, Outcome::violated);
  EXPECT_EQ(not_zeroed.violations.front().operation, 5);
}

TEST(Run, WhatARaceIsAboutHasLinesOfTheEngine) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  RunOptions options;
  options.bug = "step_skips_wait_for_reduction";
  RunResult const brief = run_scenario(small_scenario(), options);
  options.lines = true;
  RunResult const result = run_scenario(small_scenario(), options);
  EXPECT_EQ(result.digest, brief.digest);
  ASSERT_EQ(result.violations.size(), brief.violations.size());
  Violation const& race = result.violations.front();
  ASSERT_EQ(race.law, Law::order_race);
  EXPECT_FALSE(brief.violations.front().accesses[0].at.known());
  for (Access const& access : race.accesses) {
    EXPECT_TRUE(access.at.file.starts_with("real/")) << access.at.file;
    EXPECT_FALSE(access.at.function.empty());
    EXPECT_TRUE(access.enqueued_at.file.starts_with("real/")) << access.enqueued_at.file;
    EXPECT_FALSE(access.enqueued_at.callers.empty());
    EXPECT_TRUE(access.allocated_at.known());
  }
}

TEST(Run, OneMistakeIsOneViolationOfAllRanksAndParameters) {
  RunOptions options;
  options.bug = "decay_after_update";
  RunResult const result = run_scenario(small_scenario(), options);
  ASSERT_EQ(result.outcome, Outcome::violated);
  Violation const& first = result.violations.front();
  EXPECT_GT(first.count, 1);
  EXPECT_EQ(ranks_of(first).size(), static_cast<std::size_t>(small_scenario().world.rank_count()));
  auto const alike = [&](Violation const& other) {
    return other.law == first.law && other.operation == first.operation &&
           other.subject.index() == first.subject.index();
  };
  EXPECT_LE(std::ranges::count_if(result.violations, alike), 4);
}

TEST(Run, ViolationsComeInTheOrderOfOperationsAndAreFewOfEachLaw) {
  RunOptions options;
  options.bug = "piece_repeated";
  RunResult const result = run_scenario(small_scenario(), options);
  ASSERT_EQ(result.outcome, Outcome::violated);
  int last = -1;
  std::map<Law, int> count;
  for (Violation const& violation : result.violations) {
    EXPECT_GE(violation.operation, last);
    last = violation.operation;
    EXPECT_LE(++count[violation.law], 4);
  }
  EXPECT_TRUE(count.contains(Law::values_bitwise));
  EXPECT_EQ(count.contains(Law::order_race), sim::can_check);
}

}  // namespace
}  // namespace adamant::scenarios
