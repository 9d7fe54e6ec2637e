// Bugs of the catalogue, found by the ordinary search and minimised: the scenario that is left is
// small, breaks the law that was found, and says the same wherever it runs again.
#include "scenarios/search/minimize_in_workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/seam/engine.h"
#include "scenarios/search/minimize/document.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {
namespace {

constexpr std::uint64_t cases_max = 3'000;

/// The first generated case that breaks the bug's law, expecting that.
std::optional<Scenario> found(bugs::Bug const& bug, std::uint64_t seed) {
  for (std::uint64_t index = 0; index < cases_max; ++index) {
    Scenario scenario = search_case(seed, index, std::string(bug.id));
    scenario.expect = {.kind = Expectation::Kind::violates, .id = std::string(bug.law)};
    RunOptions options;
    options.repeat = search_repeats(index);
    if (run_scenario(scenario, options).met) return scenario;
  }
  return std::nullopt;
}

/// The operations that are left of what a bug was found by, or nothing where search does not find
/// it soon: that is the hunt's to say.
std::optional<std::int64_t> expect_small(bugs::Bug const& bug) {
  auto const scenario = found(bug, 1);
  if (!scenario) return std::nullopt;
  MinimizeAttempt const attempt = minimize_in_workers(*scenario, {});
  EXPECT_EQ(attempt.end, MinimizeAttempt::End::minimized) << bug.id;
  if (attempt.end != MinimizeAttempt::End::minimized) return std::nullopt;
  EXPECT_EQ(id_of(attempt.symptom), bug.law) << bug.id;
  std::string const text = write_document(attempt.scenario, attempt.result, attempt.symptom,
                                          std::string(bug.id) + ".yaml", {});
  Scenario const again = load_scenario_text(text, "again.yaml");
  EXPECT_EQ(again, attempt.scenario) << text;
  RunResult const replayed = run_scenario(again);
  EXPECT_TRUE(replayed.met) << text;
  bool const repeats = bug.law != "determinism.digest";
  EXPECT_TRUE(!repeats || replayed.digest == attempt.result.digest) << text;
  return operation_count(again.program);
}

// All would take minutes: a hunt minimises them, and what it writes is run.
constexpr std::size_t each_how_many = 12;

TEST(MinimizeIsolated, OfBugsOfTheCatalogueIsSmallAndSaysTheSameAgain) {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
  GTEST_SKIP() << "the sanitizers exclude the instrumentation that most laws need";
#endif
  auto const catalogue = bugs::catalogue();
  std::size_t seen = 0;
  std::size_t minimised = 0;
  for (std::size_t i = 0; i < catalogue.size(); i += each_how_many, ++seen) {
    auto const operations = expect_small(catalogue[i]);
    if (!operations) continue;
    ++minimised;
    EXPECT_LE(*operations, 8) << catalogue[i].id;
  }
  EXPECT_GE(minimised, seen / 2);
}

TEST(MinimizeIsolated, OfOneBugFoundTwiceIsOneFile) {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
  GTEST_SKIP() << "the sanitizers exclude the instrumentation that most laws need";
#endif
  for (char const* const id : {"step_skips_wait_for_reduction", "mean_not_divided",
                               "counter_off_by_one", "first_group_for_all", "square_first"}) {
    bugs::Bug const* const bug = bugs::find(id);
    ASSERT_NE(bug, nullptr) << id;
    std::map<std::string, std::uint64_t> files;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      auto const scenario = found(*bug, seed);
      ASSERT_TRUE(scenario) << id << ", seed " << seed;
      MinimizeAttempt const attempt = minimize_in_workers(*scenario, {.at_once = 2});
      files.emplace(write_scenario(attempt.scenario), seed);
    }
    EXPECT_EQ(files.size(), 1U) << files.begin()->first << files.rbegin()->first;
  }
}

TEST(MinimizeIsolated, OfAScenarioThatPassesIsNone) {
  MinimizeAttempt const attempt = minimize_in_workers(small_scenario(), {});
  EXPECT_EQ(attempt.end, MinimizeAttempt::End::passes);
  EXPECT_EQ(attempt.first.outcome, Outcome::pass);
}

TEST(MinimizeIsolated, LeavesAScenarioThatIsRefusedAsExpected) {
  Scenario scenario = small_scenario();
  scenario.params[0].shape = {};
  scenario.expect = {.kind = Expectation::Kind::refused, .id = "any"};
  EXPECT_EQ(minimize_in_workers(scenario, {}).end, MinimizeAttempt::End::passes);
}

TEST(RunIsolated, AProcessThatDiesTakesNothingAlong) {
  Scenario const healthy = small_scenario();
  std::vector<Scenario> const both{healthy, healthy};
  auto const results = run_isolated(both, {}, 2);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].digest, results[1].digest);
  EXPECT_EQ(results[0].outcome, Outcome::pass);
}

// ---- an engine that is a process already ----

/// The stub of an engine, but that its first step is answered `how`.
RunOptions engine_once(std::string const& how, Scratch const& scratch) {
  RunOptions options;
  options.engine = "exec:exec " + python_program() +
                   " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/hostile_engine.py " +
                   how + " step " + (scratch / "once").string();
  return options;
}

/// Three scenarios that the stub passes.
std::vector<Scenario> three() {
  Scenario scenario = small_scenario();
  scenario.program = {operation(Step{})};
  return {scenario, scenario, scenario};
}

class RunInTurn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system((python_program() + " -c '' 2>/dev/null").c_str()) != 0)
      GTEST_SKIP() << "there is no " << python_program() << " (ADAMANT_PYTHON names another)";
  }
  Scratch scratch_;
};

TEST_F(RunInTurn, AnEngineThatDiesTakesNothingAlong) {
  auto const results = run_isolated(three(), engine_once("killed", scratch_), 3);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].outcome, Outcome::error);
  EXPECT_NE(results[0].reason.find("killed by signal 9"), std::string::npos) << results[0].reason;
  EXPECT_EQ(results[1].outcome, Outcome::pass) << results[1].reason;
  EXPECT_EQ(results[2].digest, results[1].digest);
}

TEST_F(RunInTurn, AnswersWithNothingAfterAnInterrupt) {
  auto const run_and_exit = [&] {
    RunOptions const options = engine_once("twice", scratch_);
    capabilities_of(*options.engine);  // while it can still be asked
    watch_for_interrupts();
    std::raise(SIGINT);
    std::exit(run_isolated(three(), options, 3).empty() ? 0 : 1);
  };
  EXPECT_EXIT(run_and_exit(), ::testing::ExitedWithCode(0), "");
}

TEST(MinimizeIsolated, TellsHowManyRunsItMayStillTake) {
  Scenario broken = small_scenario();
  broken.bug = "mean_not_divided";
  std::vector<HowFar> told;
  WorkerOptions options{.at_once = 2};
  options.progress = [&](HowFar const& far) { told.push_back(far); };
  MinimizeAttempt const attempt = minimize_in_workers(broken, options);
  ASSERT_EQ(attempt.end, MinimizeAttempt::End::minimized);
  ASSERT_GE(told.size(), 3U);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_TRUE(told[i].at_most);
    EXPECT_EQ(told[i].total, told[0].total);
  }
  EXPECT_GE(told.back().done, attempt.runs);
  EXPECT_LT(told.back().done, told.back().total);
}

using MinimizeForAPeer = RunInTurn;

TEST_F(MinimizeForAPeer, KeepsHowTheLawWasBroken) {
  WorkerOptions options;
  options.run.engine = "exec:exec " + python_program() +
                       " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/stub_engine.py";
  Scenario learns = small_scenario();
  learns.program = {operation(Train{.count = 1})};
  MinimizeAttempt const attempt = minimize_in_workers(learns, options);
  ASSERT_EQ(attempt.end, MinimizeAttempt::End::minimized) << attempt.first.reason;
  Violation const* const violation = violation_of(attempt.first, attempt.symptom);
  ASSERT_NE(violation, nullptr);
  EXPECT_FALSE(attempt.symptom.likeness.empty());
  EXPECT_EQ(attempt.symptom.likeness, likeness_of(*violation));
}

}  // namespace
}  // namespace adamant::scenarios
