// The engine in NumPy (scenarios/peers/numpy), right and wrong, as any engine outside the process.
#include "scenarios/peers/client/peer_engine.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <thread>
#include <vector>

#include "scenarios/peers/client/testing/processes.h"
#include "scenarios/report/words/words.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/numpy_engine.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/versions.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""ms;

std::string engine(std::string const& arguments = "") {
  return "exec:exec " + python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy " +
         arguments;
}

class EngineInNumPy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_numpy())
      GTEST_SKIP() << python_program() << " has no NumPy (ADAMANT_PYTHON names another)";
  }

  static RunResult run(Scenario const& scenario, std::string const& arguments = "") {
    RunOptions options;
    options.engine = engine(arguments);
    options.seed = 7;
    return run_scenario(scenario, options);
  }

  /// Three steps, a save between them and its load on another number of ranks.
  static Scenario saving() {
    Scenario scenario = small_scenario();
    scenario.world.shard = 3;
    scenario.program = {operation(Train{.count = 2}), operation(Save{.checkpoint = "a"}),
                        operation(Train{.count = 1}),
                        operation(Load{.from = "a", .world = World{.shard = 2}}),
                        operation(Train{.count = 1})};
    return scenario;
  }
};

std::string laws_of(RunResult const& result) {
  std::string laws;
  for (Violation const& violation : result.violations)
    laws.append(id_of(violation.law)).append(" ");
  return laws + result.reason + message_of(result);
}

TEST_F(EngineInNumPy, SaysItsVersions) {
  std::string const versions = versions_of(engine());
  EXPECT_TRUE(std::regex_match(versions, std::regex("numpy [0-9.]+, python [0-9.]+"))) << versions;
  EXPECT_EQ(versions_of("sim"), "") << "of this program";
}

TEST_F(EngineInNumPy, PassesWhatItIsGiven) {
  EXPECT_EQ(laws_of(run(small_scenario())), "");
  EXPECT_EQ(laws_of(run(saving())), "");
}

TEST_F(EngineInNumPy, HasTheSameDigestEachTime) {
  auto const digest = run(saving()).digest;
  EXPECT_NE(digest, 0U);
  EXPECT_EQ(run(saving()).digest, digest);
}

TEST_F(EngineInNumPy, IsCaughtWithoutBiasCorrection) {
  RunResult const result = run(small_scenario(), "--bug no_bias_correction");
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::values_bitwise);
}

TEST_F(EngineInNumPy, IsCaughtTakingAShardForTheWhole) {
  RunResult const result = run(saving(), "--bug shard_as_whole");
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_roundtrip);
}

// What an overflow adds to may be infinite itself, from the other side or from an overflow before:
// then a shard that is overwritten would not be the sum.
TEST_F(EngineInNumPy, MeetsOverflowsAmongWildGradientsAndOneAfterTheOther) {
  Scenario scenario = small_scenario();
  scenario.params = {{.name = "w", .shape = {3}}};
  scenario.world.shard = 1;
  scenario.microbatches = 4;
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(Overflow{}),
                      operation(Backward{}), operation(Step{})};
  for (auto const kind : {GradientClass::wild, GradientClass::exact}) {
    scenario.gradients = kind;
    for (std::uint64_t seed = 1; seed < 40; seed += 2) {
      RunOptions options;
      options.engine = engine();
      options.seed = seed;
      EXPECT_EQ(laws_of(run_scenario(scenario, options)), "") << seed;
    }
  }
}

// Under a large scale many a wild gradient is infinite before an overflow comes to it.
TEST_F(EngineInNumPy, MeetsOverflowsAmongGradientsThatTheirScaleMakesInfinite) {
  Scenario scenario = small_scenario();
  scenario.params = {{.name = "w", .shape = {1}}};
  scenario.world.shard = 1;
  scenario.microbatches = 64;
  scenario.gradients = GradientClass::wild;
  scenario.optimizer.loss_scale = {.kind = LossScale::Kind::fixed, .value = 0x1p120F};
  scenario.program = {operation(Overflow{}), operation(Backward{}), operation(Step{})};
  for (std::uint64_t seed = 1; seed < 40; seed += 2) {
    RunOptions options;
    options.engine = engine();
    options.seed = seed;
    EXPECT_EQ(laws_of(run_scenario(scenario, options)), "") << seed;
  }
}

/// A save, and a load of what was damaged between them.
Scenario loading_after(Fault const& damage) {
  Scenario scenario = small_scenario();
  scenario.program = {operation(Train{.count = 1}), operation(Save{.checkpoint = "a"}),
                      operation(Load{.from = "a"})};
  scenario.faults = {damage};
  return scenario;
}

TEST_F(EngineInNumPy, SaysThatACheckpointIsDamaged) {
  EXPECT_EQ(run(loading_after(harmless_damage())).reason, "damaged_checkpoint");
}

TEST_F(EngineInNumPy, IsCaughtSilentAboutDamageThatItPromisedToReport) {
  RunResult const result = run(loading_after(harmless_damage()), no_checksums);
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_integrity);
  EXPECT_EQ(
      result.violations.front().subject,
      Subject(DamagedFiles{{.file = "a/index.json", .how = Fault::Then::flip_byte, .at = 3}}));
}

TEST_F(EngineInNumPy, MayBeSilentAboutHarmlessDamageThatItNeverPromisedToReport) {
  RunResult const result = run(loading_after(harmless_damage()), promises_less);
  EXPECT_EQ(result.outcome, Outcome::pass) << laws_of(result);
  RunResult const harmed = run(loading_after(harmful_damage()), promises_less);
  ASSERT_EQ(harmed.outcome, Outcome::violated) << harmed.message;
  EXPECT_EQ(harmed.violations.front().law, Law::checkpoint_integrity);
}

TEST_F(EngineInNumPy, IsRefusedWhatItDoesNotOffer) {
  Scenario scenario = small_scenario();
  scenario.layout = Layout::flat;
  EXPECT_EQ(run(scenario).reason, "unsupported.layout");
}

template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

// What a killed process leaves: no engine, no rank and no file.
TEST_F(EngineInNumPy, GoesWithTheProcessThatDrivesIt) {
  Scratch const scratch;
  auto const room = scratch / "room";
  std::filesystem::create_directories(room);
  pid_t const driver = ::fork();
  ASSERT_GE(driver, 0);
  if (driver == 0) {
    ::setenv("TMPDIR", room.c_str(), 1);
    run(saving());
    std::filesystem::create_directory(scratch / "ready");
    ::pause();
  }
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(scratch / "ready"); }));
  EXPECT_FALSE(std::filesystem::is_empty(room));
  auto const children = children_of(driver);
  EXPECT_EQ(children.size(), 3U) << "the engine, its guard, and who removes its files";
  ::kill(driver, SIGKILL);
  ::waitpid(driver, nullptr, 0);
  EXPECT_TRUE(comes_true([&] { return std::filesystem::is_empty(room); })) << "a file is left";
  for (pid_t const child : children) {  // the engine leads a group of its own, with its ranks in it
    EXPECT_TRUE(comes_true([&] { return !is_running(child); })) << "a process is left";
    EXPECT_TRUE(comes_true([&] { return !has_members(child); })) << "a rank is left";
  }
}

}  // namespace
}  // namespace adamant::scenarios
