// A real PyTorch peer that was broken on purpose (scenarios/peers/torch/tests/engines.py): the law
// that names the defect is broken, and a rank that waits forever is waited for a bounded time.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;

class EngineInPyTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      command_ = command_of_peer("torch");
    } catch (MachineLacks const& lacking) {
      GTEST_SKIP() << lacking.what();
    }
    set_peer_bounds({.hello = 60s, .rank = 8s, .reply = 13s});
  }
  void TearDown() override { set_peer_bounds({}); }

  /// Runs two steps on a subclass of the adapter's engine.
  RunResult run(std::string const& subclass, World const& world) const {
    return run("tests.engines:" + subclass, world, {operation(Train{2})});
  }

  /// Runs a save that goes on while a step is done, and its load.
  RunResult run_overlapping(std::string const& subclass, std::vector<Fault> faults = {},
                            std::vector<Again> again = {}) const {
    return run("tests.late_saves:" + subclass, {.shard = 2},
               {operation(Train{1}), operation(Save{"a"}), operation(Train{1}),
                operation(Load{.from = "a"}), operation(Train{1})},
               {{"async_save", "overlapping"}}, std::move(faults), std::move(again));
  }

 private:
  RunResult run(std::string const& engine, World const& world, std::vector<Operation> program,
                EngineOptions const& chosen = {}, std::vector<Fault> faults = {},
                std::vector<Again> again = {}) const {
    Scenario scenario = small_scenario();
    scenario.world = world;
    scenario.microbatches.reset();
    scenario.optimizer.step_counter = StepCounter::parameter;
    scenario.params = {parameter("w", {4, 3})};
    scenario.groups.clear();
    scenario.program = std::move(program);
    scenario.faults = std::move(faults);
    scenario.again = std::move(again);
    scenario.engine = {.name = "exec:cd '" ADAMANT_SOURCE_DIR "/scenarios/peers/torch' && " +
                               command_ + " --engine " + engine,
                       .options = chosen};
    return run_scenario(scenario, RunOptions{});
  }

  std::string command_;
};

TEST_F(EngineInPyTorch, IsCaughtWithReplicasThatDisagree) {
  RunResult const result = run("PartsReplicas", {.shard = 2, .replicate = 2});
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::ranks_agree)
      << in_one_line(result.violations.front());
}

TEST_F(EngineInPyTorch, IsCaughtLeavingOutACollective) {
  auto const begin = std::chrono::steady_clock::now();
  RunResult const result = run("LeavesOutACollective", {.shard = 2});
  ASSERT_EQ(result.outcome, Outcome::violated) << result.message;
  EXPECT_EQ(result.violations.front().law, Law::order_deadlock);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

TEST_F(EngineInPyTorch, SavesTheValuesOfItsCallWhileItTrains) {
  RunResult const result = run_overlapping("Late");
  ASSERT_TRUE(result.violations.empty()) << in_one_line(result.violations.front());
  EXPECT_EQ(result.outcome, Outcome::pass) << message_of(result);
}

TEST_F(EngineInPyTorch, IsCaughtSavingLaterValues) {
  RunResult const result = run_overlapping("Refers");
  ASSERT_EQ(result.outcome, Outcome::violated) << message_of(result);
  EXPECT_EQ(result.violations.front().law, Law::checkpoint_roundtrip)
      << in_one_line(result.violations.front());
  EXPECT_EQ(result.violations.front().operation, 3);
}

TEST_F(EngineInPyTorch, IsWaitedForBeforeItsFilesAreDamaged) {
  Fault const cut{.at = Fault::Where::load, .then = Fault::Then::truncate, .file = 1};
  RunResult const result = run_overlapping("Late", {cut});
  EXPECT_EQ(result.outcome, Outcome::refused);
  EXPECT_EQ(result.reason, "damaged_checkpoint") << message_of(result);
}

TEST_F(EngineInPyTorch, IsCaughtFailingToWriteAfterItsReply) {
  RunResult const result = run_overlapping("Fails");
  ASSERT_NE(result.outcome, Outcome::pass);
  ASSERT_FALSE(result.violations.empty()) << message_of(result);
  EXPECT_EQ(result.violations.front().operation, 1) << in_one_line(result.violations.front());
}

TEST_F(EngineInPyTorch, IsCaughtFailingToWriteFilesThatAreLookedAt) {
  RunResult const result = run_overlapping("Fails", {}, {Again{}});
  ASSERT_EQ(result.outcome, Outcome::violated) << message_of(result);
  EXPECT_EQ(result.violations.front().law, Law::error_clean)
      << in_one_line(result.violations.front());
  EXPECT_EQ(result.violations.front().operation, 1);
}

}  // namespace
}  // namespace adamant::scenarios
