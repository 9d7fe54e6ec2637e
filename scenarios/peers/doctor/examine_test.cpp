// The whole examination: what it finds in a good engine, in one that is wrong on purpose, and where
// it ends early.
#include "scenarios/peers/doctor/examine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/peers/doctor/promise_probes.h"
#include "scenarios/peers/doctor/scenario_probes.h"
#include "scenarios/peers/doctor/testing/engines.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;

class Examination : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << no_python;
    set_peer_bounds(PeerBounds::of(5s));
  }
  void TearDown() override { set_peer_bounds({}); }
};

std::vector<Probe> examine(std::string const& command) {
  return examine_engine("exec:" + command, [](Probe const&) {});
}

std::string failures_of(std::vector<Probe> const& probes) {
  std::string text;
  for (Probe const& probe : probes)
    if (probe.outcome == Probe::Outcome::failed) text += probe.name + ": " + probe.text + "\n";
  return text;
}

TEST_F(Examination, IsNotPossibleWhereTheEngineDoesNotStart) {
  EXPECT_THROW(examine("/nonexistent/engine"), MachineLacks);
  EXPECT_THROW(examine(hostile_command("exits hello")), MachineLacks);
  EXPECT_THROW(examine(hostile_command("never hello")), MachineLacks);
}

TEST_F(Examination, EndsAtAHelloThatSaysTooLittle) {
  struct {
    char const* how;
    char const* text;
  } const cases[] = {
      {"nonsense hello", "expected a JSON object"},
      {"wrong_version hello", "version: expected 1, found 2"},
      {"no_capabilities hello", "the field `capabilities`"},
      {"unknown_arithmetic hello",
       "arithmetic: expected one of te, torch, torch_fused, interval, found"},
      {"option_without_values hello", "options.mood: expected at least 1 entries, found []"},
  };
  for (auto const& [how, text] : cases) {
    auto const probes = examine(hostile_command(how));
    ASSERT_EQ(probes.size(), 1U) << how;
    EXPECT_EQ(probes.front().outcome, Probe::Outcome::failed) << how;
    EXPECT_NE(probes.front().text.find(text), std::string::npos) << probes.front().text;
  }
}

// The stub never learns: whatever needs a step or a gradient fails, and nothing else does.
TEST_F(Examination, FindsThatTheStubLearnsNothing) {
  auto const probes = examine(stub_command());
  auto const outcome_of = [&](std::string const& name) {
    auto const found = std::find_if(probes.begin(), probes.end(),
                                    [&](Probe const& probe) { return probe.name == name; });
    return found == probes.end() ? "not there" : name_of(found->outcome);
  };
  EXPECT_EQ(outcome_of("initial values on 4 ranks"), "ok");
  EXPECT_EQ(outcome_of("initial values on 5 ranks"), "not there");
  EXPECT_EQ(outcome_of("reduced gradients on 2 ranks"), "failed");
  EXPECT_EQ(outcome_of("AdamW"), "failed");
  EXPECT_EQ(outcome_of("Adam"), "not offered");
  EXPECT_EQ(outcome_of("replicas"), "not offered");
  EXPECT_EQ(outcome_of("load in place"), "not offered");
  EXPECT_EQ(outcome_of("option mood: restless"), "failed");
}

TEST_F(Examination, FindsABitInAFile) {
  std::string const found = failures_of(examine(hostile_command("loses_a_bit state")));
  EXPECT_NE(found.find("initial values on 1 rank: values.bitwise"), std::string::npos) << found;
}

class ExaminationOfNumPy : public Examination {
 protected:
  void SetUp() override {
    Examination::SetUp();
    if (!has_numpy()) GTEST_SKIP() << no_numpy;
  }
};

TEST_F(ExaminationOfNumPy, FindsNothing) {
  auto const probes = examine(numpy_command());
  EXPECT_EQ(failures_of(probes), "");
  EXPECT_GT(probes.size(), 60U);
}

TEST_F(ExaminationOfNumPy, FindsABugByTheScenariosThatMeetIt) {
  std::string const found = failures_of(examine(numpy_command("--bug shard_as_whole")));
  EXPECT_NE(found.find("load on fewer ranks: checkpoint.roundtrip"), std::string::npos) << found;
  EXPECT_EQ(found.find("load in place"), std::string::npos) << found;
}

TEST_F(ExaminationOfNumPy, FindsPromisesThatItBreaks) {
  struct {
    char const* bug;
    char const* probe;
    char const* way;
  } const cases[] = {
      {"tail_rounds_otherwise", "promise worlds: the same on other ranks: runs.worlds: ",
       "leaves `worlds` out of `promises`"},
      {"loads_change_order", "promise resumed: a load goes on as if nothing had been: runs.resumed",
       "leaves `resumed` out of `promises`"},
      {"loads_change_order", "so does one by way of another world: runs.resumed",
       "leaves `resumed` out of `promises`"},
      {"saves_count_processes", "promise repeated: the same once more: runs.repeated",
       "leaves the ending of that name out of `same_files`"},
  };
  for (auto const& [bug, probe, way] : cases) {
    std::string const engine = "exec:" + numpy_command(std::string("--bug ") + bug);
    Capabilities const& offered = capabilities_of_peer(engine);
    std::vector<Probe> probes;
    for (ProbePlan const& plan : promise_plans(offered))
      probes.push_back(run_plan(plan, offered, engine));
    std::string const found = failures_of(probes);
    EXPECT_NE(found.find(probe), std::string::npos) << bug << ": " << found;
    EXPECT_NE(found.find(way), std::string::npos) << bug << ": " << found;
    EXPECT_LT(std::count(found.begin(), found.end(), '\n'), 3) << bug << ": " << found;
  }
}

TEST(PromiseProbes, AreThereForWhatIsPromisedAlone) {
  Capabilities offered;
  offered.ranks_max = 4;
  offered.options = {{.name = "order", .values = {"own", "any"}},
                     {.name = "format", .values = {"dcp", "hf"}}};
  offered.same_options = {"format"};
  EXPECT_TRUE(promise_plans(offered).empty());
  offered.promises = {Promise::options};
  auto const plans = promise_plans(offered);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans.front().name, "promise options: the same with format: hf");
  EXPECT_EQ(
      way_to_withdraw({.law = Law::runs_options, .breach = Breach::other_in_run}, plans.front()),
      "an engine that cannot keep this leaves `format` out of `same_options`");
  EXPECT_EQ(way_to_withdraw({.law = Law::values_bitwise}, plans.front()), "");
}

TEST_F(ExaminationOfNumPy, ProbesEachTypeThatIsReadWithScales) {
  auto const probes = examine(numpy_command("--bug amax_of_before"));
  std::string const found = failures_of(probes);
  EXPECT_NE(found.find("recipe param: nvfp4, grad: fp32, main: fp32, exp_avg: fp32, exp_avg_sq: "
                       "fp32: values.bitwise"),
            std::string::npos)
      << found;
  EXPECT_EQ(found.find("param: mxfp8"), std::string::npos) << found;
  for (char const* const types :
       {"param: fp8_delayed", "param: fp8_block", "main: fp16", "main: remainder", "exp_avg: fp8",
        "exp_avg_sq: fp16", "state_scale: local"})
    for (char const* const how : {"recipe ", "load to "})
      EXPECT_TRUE(std::ranges::any_of(probes,
                                      [&](Probe const& probe) {
                                        return probe.name.starts_with(how) &&
                                               probe.name.find(types) != probe.name.npos;
                                      }))
          << how << types;
}

}  // namespace
}  // namespace adamant::scenarios
