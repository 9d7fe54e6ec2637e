// Saves, loads, crashes and damage as a scenario's run executes and judges them.
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

Scenario with_program(std::vector<Operation> program) {
  Scenario scenario = small_scenario();
  scenario.program = std::move(program);
  return scenario;
}

Operation load(std::string from, std::int64_t ranks = 0) {
  Load load{.from = std::move(from)};
  if (ranks > 0) load.world = World{.shard = ranks};
  return operation(std::move(load));
}

Operation save(std::string name) {
  return operation(Save{std::move(name)});
}

Operation set_rate(float rate) {
  SettingsChange change;
  change.adam.lr = rate;
  return operation(Set{change});
}

std::string summary(RunResult const& result) {
  std::string text = result.reason + " " + message_of(result);
  for (Violation const& violation : result.violations) text += "\n" + in_one_line(violation);
  return text;
}

void expect_pass(Scenario const& scenario) {
  RunOptions options;
  options.schedules = 4;
  RunResult const result = run_scenario(scenario, options);
  EXPECT_EQ(result.outcome, Outcome::pass) << summary(result);
}

TEST(Checkpoint, IsLoadedByTheWorldThatSavedIt) {
  expect_pass(with_program(
      {operation(Train{2}), save("a"), operation(Train{2}), load("a"), operation(Train{2})}));
}

TEST(Checkpoint, IsLoadedOnAnyPathOfWorlds) {
  std::vector<Operation> program{operation(Train{2})};
  for (std::int64_t const ranks : {2, 8, 3, 1, 12, 4}) {
    program.push_back(save("a"));
    program.push_back(load("a", ranks));
    program.push_back(operation(Train{1}));
  }
  expect_pass(with_program(std::move(program)));
}

TEST(Checkpoint, RestoresSettingsThatALaterSetChangesAgain) {
  expect_pass(with_program({set_rate(0.25F), operation(Train{1}), save("a"), set_rate(0.5F),
                            operation(Train{1}), load("a", 2), operation(Train{1}),
                            set_rate(0.125F), operation(Train{1})}));
}

Operation set_norm(Clip norm) {
  SettingsChange change;
  change.clip = norm;
  return operation(Set{change});
}

// The save that the crash interrupts has a norm, and the whole one before it none.
TEST(Checkpoint, AClipWithoutANormIsRefusedWhenItIsReached) {
  Scenario scenario =
      with_program({save("a"), set_norm(0.5F), save("a"), load("a"), operation(Train{1}),
                    operation(Backward{}), operation(ClipNorm{})});
  Fault& fault = scenario.faults.emplace_back();
  fault.at = Fault::Where::save;
  fault.nth = 2;
  fault.rank = 0;
  fault.after_bytes = 64;
  fault.then = Fault::Then::crash;
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::refused) << summary(result);
  EXPECT_EQ(result.reason, "unsupported.clip_without_norm");
  ASSERT_TRUE(result.failed_at.has_value());
  EXPECT_EQ(result.failed_at->operation, 6);
}

TEST(Checkpoint, ALoadDropsGradients) {
  expect_pass(
      with_program({operation(Backward{}), save("a"), operation(Backward{}), load("a"),
                    operation(Step{}), operation(Backward{}), load("a", 3), operation(Step{})}));
}

TEST(Checkpoint, SeveralStandBesideEachOther) {
  expect_pass(with_program({save("a"), operation(Train{1}), save("b"), operation(Train{1}),
                            load("a", 2), operation(Train{1}), load("b", 3), operation(Train{1}),
                            save("a"), load("b"), load("a")}));
}

TEST(Checkpoint, ARunOfSeveralWorldsIsReplayedByItsChoices) {
  Scenario scenario = with_program(
      {operation(Train{1}), save("a"), load("a", 2), operation(Train{1}), save("a"), load("a", 3)});
  scenario.schedule.strategy = Schedule::Strategy::random;
  scenario.schedule.seed = 5;
  RunResult const first = run_scenario(scenario);
  EXPECT_EQ(first.outcome, Outcome::pass) << summary(first);
  scenario.schedule = {.strategy = Schedule::Strategy::fifo, .choices = first.choices};
  EXPECT_EQ(run_scenario(scenario).digest, first.digest);
  scenario.schedule = {.strategy = Schedule::Strategy::random, .seed = 6};
  EXPECT_NE(run_scenario(scenario).digest, first.digest);
}

Fault crash(std::int64_t nth, std::int64_t rank, std::int64_t after_bytes) {
  return {.at = Fault::Where::save,
          .then = Fault::Then::crash,
          .rank = rank,
          .nth = nth,
          .after_bytes = after_bytes};
}

TEST(Crash, OperationsUpToTheNextLoadAreSkipped) {
  Scenario scenario =
      with_program({operation(Train{1}), save("a"), operation(Train{1}), save("a"),
                    operation(Train{3}), save("b"), load("a", 3), operation(Train{1})});
  scenario.faults = {crash(2, 1, 40)};
  expect_pass(scenario);
}

TEST(Crash, WithoutALoadIsTheEnd) {
  Scenario scenario = with_program({operation(Train{1}), save("a"), operation(Train{1})});
  scenario.faults = {crash(1, 0, 10)};
  expect_pass(scenario);
}

TEST(Crash, BehindTheLastByteOfASaveFindsItWhole) {
  Scenario scenario =
      with_program({operation(Train{1}), save("a"), operation(Train{1}), load("a")});
  scenario.faults = {crash(1, 2, 1 << 30)};
  expect_pass(scenario);
}

TEST(Crash, AtEveryByteAndOperationLeavesTheOldOneOrTheNewOne) {
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (std::int64_t bytes = 0; bytes < 6000; bytes += 97) {
      Scenario scenario =
          with_program({operation(Train{1}), save("a"), set_rate(0.5F), operation(Train{1}),
                        save("a"), load("a", 3), operation(Train{1})});
      scenario.faults = {crash(2, rank, bytes)};
      scenario.schedule = {.strategy = Schedule::Strategy::random,
                           .seed = static_cast<std::uint64_t>(bytes)};
      RunResult const result = run_scenario(scenario);
      ASSERT_EQ(result.outcome, Outcome::pass) << rank << ", " << bytes << ": " << summary(result);
    }
}

/// Of parameters that are cut inside of rows, one of them saved in parts.
Scenario of_several_files(World const& world) {
  Scenario scenario =
      with_program({operation(Train{1}), save("a"), set_rate(0.5F), operation(Train{1}), save("a"),
                    load("a", 3), operation(Train{1})});
  scenario.world = world;
  scenario.layout = Layout::flat;
  scenario.groups = {};
  scenario.params = {parameter("fused", {6, 3}), parameter("w", {7, 5})};
  scenario.params.front().parts = {"up", "gate"};
  scenario.precision.param = ParamType::bf16;
  return scenario;
}

TEST(Crash, OfRanksThatWriteSeveralFilesLeavesTheOldOneOrTheNewOne) {
  for (Outer const outer : {Outer::none, Outer::optim})
    for (std::int64_t rank = 0; rank < 4; ++rank)
      for (std::int64_t bytes = 0; bytes < 6000; bytes += 127) {
        Scenario scenario = of_several_files({.shard = 2, .replicate = 2, .outer = outer});
        scenario.faults = {crash(2, rank, bytes)};
        scenario.schedule = {.strategy = Schedule::Strategy::random,
                             .seed = static_cast<std::uint64_t>(bytes)};
        RunResult const result = run_scenario(scenario);
        ASSERT_EQ(result.outcome, Outcome::pass)
            << rank << ", " << bytes << ": " << summary(result);
      }
}

// Which of the two it is, one parameter alone may tell, and no counter.
TEST(Crash, OfASaveThatDiffersInOneParameterLeavesTheOldOneOrTheNewOne) {
  for (std::string const same : {"a", "b"})
    for (std::int64_t const bytes : {0, 1 << 30}) {
      Operation const backward = operation(Backward{.without = {same}});
      Operation const forget = operation(ZeroGrad{});
      Scenario scenario = with_program({save("first"), backward, operation(Step{}), forget,
                                        save("x"), load("first"), backward, operation(Step{}),
                                        forget, save("x"), load("x"), operation(Train{1})});
      scenario.groups = {};
      scenario.params = {parameter("a", {5}), parameter("b", {5})};
      scenario.faults = {crash(3, 0, bytes)};
      RunResult const result = run_scenario(scenario);
      EXPECT_EQ(result.outcome, Outcome::pass) << same << ", " << bytes << ": " << summary(result);
    }
}

TEST(Crash, OfTheFirstSaveLeavesNothingOrAll) {
  for (std::int64_t bytes = 0; bytes < 6000; bytes += 397) {
    Scenario scenario = with_program({operation(Train{1}), save("a"), load("a", 3)});
    scenario.faults = {crash(1, 0, bytes)};
    RunResult const result = run_scenario(scenario);
    EXPECT_TRUE(result.outcome == Outcome::pass ||
                (result.outcome == Outcome::refused && result.reason == "damaged_checkpoint"))
        << bytes << ": " << summary(result);
  }
}

Fault damage(Fault::Then then, std::int64_t file, std::optional<std::int64_t> byte = {}) {
  return {.at = Fault::Where::load, .then = then, .nth = 1, .file = file, .byte = byte};
}

void expect_damage_is_reported(Fault const& fault) {
  Scenario scenario = with_program({operation(Train{1}), save("a"), operation(Train{1}), save("a"),
                                    load("a", 3), operation(Train{1})});
  scenario.faults = {fault};
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.outcome, Outcome::refused) << summary(result);
  EXPECT_EQ(result.reason, "damaged_checkpoint") << summary(result);
}

TEST(Damage, OfAnyByteOfAnyFileIsReported) {
  for (std::int64_t file = 0; file < 5; ++file)
    for (std::int64_t byte = 0; byte < 4000; byte += 61)
      expect_damage_is_reported(damage(Fault::Then::flip_byte, file, byte));
}

TEST(Damage, OfAnyLengthIsReported) {
  for (std::int64_t file = 0; file < 5; ++file)
    for (std::int64_t byte = 0; byte < 4000; byte += 171)
      expect_damage_is_reported(damage(Fault::Then::truncate, file, byte));
}

TEST(Damage, ByAMissingOrAnOldFileIsReported) {
  for (std::int64_t file = 0; file < 5; ++file) {
    expect_damage_is_reported(damage(Fault::Then::remove_file, file));
    expect_damage_is_reported(damage(Fault::Then::stale_file, file));
  }
}

TEST(OutOfMemory, AtAnyAllocationIsRefused) {
  Scenario scenario = with_program({operation(Train{1}), save("a"), load("a", 2)});
  std::int64_t refused = 0;
  for (std::int64_t rank = 0; rank < 4; ++rank)
    for (std::int64_t nth = 1; nth <= 60; ++nth) {
      scenario.faults = {{.at = Fault::Where::malloc,
                          .then = Fault::Then::out_of_memory,
                          .rank = rank,
                          .nth = nth}};
      RunResult const result = run_scenario(scenario);
      refused += result.outcome == Outcome::refused ? 1 : 0;
      EXPECT_TRUE(result.outcome == Outcome::pass || result.reason == "out_of_memory")
          << rank << ", " << nth << ": " << summary(result);
    }
  EXPECT_GT(refused, 40);
}

TEST(Damage, MayComeBeforeALaterLoad) {
  Scenario scenario = with_program({operation(Train{1}), save("a"), load("a", 2), load("a")});
  scenario.faults = {damage(Fault::Then::flip_byte, 1, 300)};
  scenario.faults.front().nth = 2;
  RunResult const result = run_scenario(scenario);
  EXPECT_EQ(result.reason, "damaged_checkpoint") << summary(result);
  ASSERT_TRUE(result.failed_at);
  EXPECT_EQ(result.failed_at->operation, 3);
}

TEST(Checkpoint, LinesAreFoundInTheSecondWorldOfARunToo) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  RunOptions options;
  options.lines = true;
  options.bug = "step_skips_wait_for_reduction";
  RunResult const result = run_scenario(
      with_program({save("a"), load("a", 3), operation(Backward{}), operation(Step{})}), options);
  ASSERT_FALSE(result.violations.empty());
  EXPECT_EQ(result.violations.front().operation, 3);
  EXPECT_TRUE(result.violations.front().accesses.at(0).at.known());
}

}  // namespace
}  // namespace adamant::scenarios
