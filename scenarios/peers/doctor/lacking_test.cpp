// Each probe that runs a scenario finds the engine that lacks what it is about.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>
#include <string>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/doctor/scenario_probes.h"
#include "scenarios/peers/doctor/testing/engines.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;

struct Lack {
  char const* what;
  char const* probe;
  char const* text;
};

std::ostream& operator<<(std::ostream& out, Lack const& lack) {
  return out << lack.what << " in " << lack.probe;
}

constexpr char const* values = "values.bitwise";
constexpr char const* loaded = "checkpoint.roundtrip";
constexpr char const* damage = "checkpoint.integrity";

constexpr Lack lacks[] = {
    {"initial_values 1", "initial values on 1 rank", values},
    {"initial_values 2", "initial values on 2 ranks", values},
    {"initial_values 3", "initial values on 3 ranks", values},
    {"initial_values 4", "initial values on 4 ranks", values},
    {"initial_values 5", "initial values on 5 ranks", values},
    {"initial_values 6", "initial values on 6 ranks", values},
    {"initial_values 7", "initial values on 7 ranks", values},
    {"initial_values 8", "initial values on 8 ranks", values},
    {"reduction 1", "reduced gradients on 1 rank", values},
    {"reduction 2", "reduced gradients on 2 ranks", values},
    {"reduction 3", "reduced gradients on 3 ranks", values},
    {"reduction 4", "reduced gradients on 4 ranks", values},
    {"reduction 5", "reduced gradients on 5 ranks", values},
    {"reduction 6", "reduced gradients on 6 ranks", values},
    {"reduction 7", "reduced gradients on 7 ranks", values},
    {"reduction 8", "reduced gradients on 8 ranks", values},
    {"replicas 1", "replicas", "ranks.agree"},
    {"replicas 2", "shards and replicas", "ranks.agree"},
    {"fewer_microbatches", "one microbatch for two ranks", values},
    {"odd_microbatches", "five microbatches for two ranks", values},
    {"accumulation", "two backwards add up", values},
    {"second_step", "a step uses its gradient again", values},
    {"left_out", "a parameter without gradient", values},
    {"idle_step", "a step before any backward", values},
    {"none", "zero_grad to none", values},
    {"zeros", "zero_grad to zeros", values},
    {"adamw", "AdamW", values},
    {"adam", "Adam", values},
    {"counter", "counters of groups", values},
    {"claims_all", "counters of parameters", "were not offered"},
    {"uncorrected", "no bias correction", values},
    {"clip", "clip", values},
    {"limit", "a clip that is not needed", values},
    {"unscaling", "a fixed loss scale", values},
    {"claims_all", "a dynamic loss scale", "was not offered"},
    {"infinities", "an overflow without loss scale", values},
    {"texts", "a norm that is not finite is a text", "write it as"},
    {"skips", "an overflow under a loss scale", values},
    {"claims_all", "an overflow under a dynamic loss scale", "was not offered"},
    {"set_lr", "set lr", values},
    {"set_betas", "set betas", values},
    {"set_eps", "set eps", values},
    {"set_weight_decay", "set weight_decay", values},
    {"set_clip", "set clip", values},
    {"set_loss_scale", "set loss_scale", values},
    {"load", "load in place", loaded},
    {"load_on_fewer", "load on fewer ranks", loaded},
    {"load_on_more", "load on more ranks", loaded},
    {"load_on_replicas", "load on replicas", loaded},
    {"names", "load in another order", loaded},
    {"second_save", "a second save replaces the first", loaded},
    {"settings", "settings are loaded", loaded},
    {"refusals", "a flipped bit is found", damage},
    {"refusals", "a truncated file is found", damage},
    {"refusals", "a missing file is found", damage},
    {"older_saves", "a crash in the first save", loaded},
    {"options", "promise options: the same with mood: restless", "runs.options"},
};

/// What this engine, or the one in NumPy, offers.
Capabilities const& offered_by(std::string const& engine) {
  return capabilities_of_peer("exec:" + engine);
}

class LackingEngine : public testing::TestWithParam<Lack> {
 protected:
  void SetUp() override {
    if (!has_numpy()) GTEST_SKIP() << no_numpy;
    set_peer_bounds(PeerBounds::of(20s));
  }
  void TearDown() override { set_peer_bounds({}); }
};

TEST_P(LackingEngine, IsFound) {
  std::string const engine = lacking_command(GetParam().what);
  auto const plans = plans_for(offered_by(engine));
  auto const plan = std::ranges::find(plans, GetParam().probe, &ProbePlan::name);
  ASSERT_NE(plan, plans.end());
  Probe const probe = run_plan(*plan, offered_by(engine), "exec:" + engine);
  EXPECT_EQ(probe.outcome, Probe::Outcome::failed);
  EXPECT_NE(probe.text.find(GetParam().text), std::string::npos) << probe.text;
}

INSTANTIATE_TEST_SUITE_P(All, LackingEngine, testing::ValuesIn(lacks));

class LackingTypes : public LackingEngine {};

// Of the first recipe they are what is asked for.
TEST_F(LackingTypes, AreFoundByTheProbeOfEachRecipe) {
  std::string const engine = lacking_command("types");
  int found = 0;
  for (ProbePlan const& plan : plans_for(offered_by(engine))) {
    bool const plain = plan.name.find(
                           "fp32, grad: fp32, main: none, exp_avg: fp32, "
                           "exp_avg_sq: fp32") != std::string::npos;
    if (plain || !(plan.name.starts_with("recipe ") || plan.name.starts_with("load to "))) continue;
    Probe const probe = run_plan(plan, offered_by(engine), "exec:" + engine);
    EXPECT_EQ(probe.outcome, Probe::Outcome::failed) << plan.name;
    ++found;
  }
  EXPECT_GT(found, 30);
}

// The promises are broken in examine_test.cpp.
TEST_F(LackingTypes, AreNotAllThatAProbeIsAbout) {
  std::set<std::string> probes;
  for (Lack const& lack : lacks) probes.insert(lack.probe);
  for (ProbePlan const& plan : plans_for(offered_by(numpy_command()))) {
    bool const elsewhere = plan.name.starts_with("recipe ") || plan.name.starts_with("load to ") ||
                           plan.name.starts_with("promise ");
    EXPECT_TRUE(elsewhere || probes.contains(plan.name)) << plan.name << ": no engine lacks it";
  }
}

}  // namespace
}  // namespace adamant::scenarios
