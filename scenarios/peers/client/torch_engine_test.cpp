// A real PyTorch peer that was broken on purpose (scenarios/peers/torch/tests/engines.py): the law
// that names the defect is broken, and a rank that waits forever is waited for a bounded time.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/report/words/words.h"
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
    Scenario scenario = small_scenario();
    scenario.world = world;
    scenario.microbatches.reset();
    scenario.optimizer.step_counter = StepCounter::parameter;
    scenario.params = {parameter("w", {4, 3})};
    scenario.groups.clear();
    scenario.program = {operation(Train{2})};
    RunOptions options;
    options.engine = "exec:cd '" ADAMANT_SOURCE_DIR "/scenarios/peers/torch' && " + command_ +
                     " --engine tests.engines:" + subclass;
    return run_scenario(scenario, options);
  }

 private:
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

}  // namespace
}  // namespace adamant::scenarios
