#include "scenarios/search/findings.h"

#include <gtest/gtest.h>

#include <tuple>

#include "scenarios/language/yaml/load.h"
#include "scenarios/report/output_file.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "scenarios/search/minimize/document.h"

namespace adamant::scenarios {
namespace {

RunResult violation_of(Law law) {
  RunResult result;
  result.outcome = Outcome::violated;
  result.engine = "sim";
  result.violations.emplace_back().law = law;
  return result;
}

Finding finding(Law law, std::uint64_t seed) {
  Symptom const symptom{.law = law};
  Scenario scenario = expecting(small_scenario(), symptom);
  scenario.seed = seed;
  return {.case_index = 0, .scenario = scenario, .result = violation_of(law), .symptom = symptom};
}

std::vector<Finding> minimize_all(std::vector<Failure> const& failures,
                                  Findings::ScenarioOf const& scenario_of) {
  Findings findings(scenario_of, {});
  for (Failure const& failure : failures) findings.minimize(failure);
  return findings.sorted();
}

TEST(Findings, OfOneLawHaveNumberedFiles) {
  auto const folder = std::filesystem::path(testing::TempDir()) / "adamant_findings_numbered";
  std::filesystem::remove_all(folder);
  Finding const first = finding(Law::order_race, 1);
  Finding const second = finding(Law::order_race, 2);
  EXPECT_EQ(write_finding(folder, first, {}), folder / "order.race.yaml");
  EXPECT_EQ(write_finding(folder, second, {}), folder / "order.race-2.yaml");
  EXPECT_EQ(write_finding(folder, first, {}), folder / "order.race.yaml");
  EXPECT_EQ(load_scenario_file(folder / "order.race-2.yaml"), second.scenario);
  std::filesystem::remove_all(folder);
}

TEST(Findings, AnImpossibleDirectoryIsSaid) {
  EXPECT_THROW(write_finding("/dev/null/out", finding(Law::order_race, 1), {}), CannotWrite);
}

TEST(Findings, WhatDoesNotFailAgainStaysAsItWasFound) {
  Failure const failure{.case_index = 4, .result = violation_of(Law::order_race)};
  Finding const kept = minimize_found(failure, small_scenario(), {});
  EXPECT_EQ(kept.case_index, 4U);
  EXPECT_EQ(kept.scenario.program, small_scenario().program);
  EXPECT_EQ(kept.scenario.expect.id, "order.race");
  ASSERT_EQ(kept.result.notes.size(), 2U);
  EXPECT_EQ(kept.result.notes[0].rfind("not minimised", 0), 0U) << kept.result.notes[0];
  EXPECT_EQ(kept.result.notes[1], "its file does not repeat it: run once more it ends as pass");
}

// A process that answers too late is not tried again and again, but once it is.
TEST(Findings, WhatWasNotMinimisedIsRunOnceBeforeItIsWritten) {
  Scenario scenario = small_scenario();
  scenario.bug = "mean_not_divided";
  RunResult late = violation_of(Law::values_bitwise);
  late.reason = "no answer within 1 s";
  Finding const kept = minimize_found({.case_index = 1, .result = late}, scenario, {});
  EXPECT_EQ(kept.result.notes, std::vector<std::string>{"not minimised"});
  late.violations.front().law = Law::order_race;
  Finding const gone = minimize_found({.case_index = 1, .result = late}, scenario, {});
  EXPECT_EQ(gone.result.notes.back(),
            "its file does not repeat it: run once more it ends as violated");
}

TEST(Names, OfWhatIsCalledAlikeSayWhatTellsThemApart) {
  Names names;
  std::vector<std::string> told;
  for (auto const& [seed, ranks, normal] :
       {std::tuple(1U, 4, false), {2U, 4, true}, {3U, 3, true}, {4U, 4, true}, {5U, 4, true}}) {
    Finding one = finding(Law::order_race, seed);
    one.scenario.world.shard = ranks;
    if (normal) one.scenario.gradients = GradientClass::normal;
    tell_apart(one, names);
    told.push_back(one.scenario.name);
    EXPECT_EQ(one.result.name, told.back());
  }
  EXPECT_EQ(told, (std::vector<std::string>{
                      "what breaks order.race", "what breaks order.race, gradients: normal",
                      "what breaks order.race, gradients: normal, world: {shard: 3}",
                      "what breaks order.race (2)", "what breaks order.race (3)"}));
}

TEST(Findings, OfOneSearchHaveNamesOfTheirOwn) {
  std::vector<Failure> const alike{{1, violation_of(Law::values_bitwise)},
                                   {2, violation_of(Law::values_bitwise)}};
  auto const findings = minimize_all(alike, [&](Failure const& failure) {
    Scenario scenario = small_scenario();
    scenario.microbatches = static_cast<std::int64_t>(failure.case_index);
    return scenario;
  });
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_NE(findings[0].scenario.name, findings[1].scenario.name);
}

TEST(Findings, WhatASecondScheduleShowedIsMinimisedUnderIt) {
  Scenario const hidden = load_scenario_text(R"(adamant: 1
name: a wait that only some schedules miss
seed: 5
world: {shard: 1}
params: [{name: embed, shape: [2]}]
program: [backward, check]
bug: ds_7898
)",
                                             "hidden.yaml");
  RunOptions options;
  options.schedules = 20;
  Failure const failure{.case_index = 64, .result = run_scenario(hidden, options)};
  ASSERT_GT(failure.result.schedules, 1) << "its own schedule shows it";
  Finding const found = minimize_found(failure, hidden, {});
  EXPECT_GT(found.runs, 0U);
  EXPECT_EQ(run_scenario(found.scenario).schedules, 1);
  EXPECT_TRUE(run_scenario(found.scenario).met);
}

TEST(Findings, ThatBecomeOneScenarioAreOne) {
  Scenario scenario = small_scenario();
  scenario.bug = "mean_not_divided";
  std::vector<Failure> const failures{
      {.case_index = 1, .result = violation_of(Law::values_bitwise)},
      {.case_index = 2, .result = violation_of(Law::values_bitwise)}};
  auto const findings = minimize_all(failures, [&](Failure const& failure) {
    scenario.seed = failure.case_index;
    return scenario;
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].case_index, 1U);
  EXPECT_EQ(findings[0].scenario.params.size(), 1U);
}

TEST(Findings, AFailureThatWasNotMinimisedExplainsNothing) {
  std::vector<Failure> const alike{{1, violation_of(Law::values_bitwise)},
                                   {2, violation_of(Law::values_bitwise)}};
  auto const findings = minimize_all(alike, [&](Failure const& failure) {
    Scenario scenario = small_scenario();
    if (failure.case_index == 2) scenario.bug = "mean_not_divided";
    return scenario;
  });
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].runs == 0, findings[1].runs > 0);
}

TEST(Findings, AFailureWithoutAnIngredientThatAnotherNeedsIsAnother) {
  std::vector<Failure> const alike{{1, violation_of(Law::values_bitwise), {"format=dcp"}},
                                   {2, violation_of(Law::values_bitwise)},
                                   {3, violation_of(Law::values_bitwise), {"format=dcp"}}};
  std::vector<std::uint64_t> minimised;
  auto const findings = minimize_all(alike, [&](Failure const& failure) {
    std::uint64_t const index = failure.case_index;
    minimised.push_back(index);
    Scenario scenario = small_scenario();
    if (index == 1) scenario.engine.options = {{"format", "dcp"}};
    if (index != 1) scenario.bug = "mean_not_divided";
    return scenario;
  });
  EXPECT_EQ(minimised, (std::vector<std::uint64_t>{1, 2})) << "the second explains the third";
  EXPECT_EQ(findings.size(), 2U);
}

}  // namespace
}  // namespace adamant::scenarios
