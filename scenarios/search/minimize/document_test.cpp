#include "scenarios/search/minimize/document.h"

#include <gtest/gtest.h>

#include "scenarios/language/yaml/load.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

RunResult race() {
  RunResult result;
  result.outcome = Outcome::violated;
  result.digest = 0xABC;
  Violation& violation = result.violations.emplace_back();
  violation.law = Law::order_race;
  violation.breach = Breach::unordered_accesses;
  violation.operation = 1;
  violation.text = "unordered";
  for (char const* const kind : {"write", "read"})
    violation.accesses.push_back({.rank = 0,
                                  .stream = "comm",
                                  .operation = "mean_kernel",
                                  .kind = kind,
                                  .buffer = "gradients",
                                  .begin = 0,
                                  .end = 4});
  violation.missing = "no event";
  return result;
}

TEST(Document, HasBothAccessesTheMissingEdgeAndTheLineThatReplays) {
  Symptom const symptom{.law = Law::order_race};
  Scenario const scenario = expecting(small_scenario(), symptom);
  std::string const text = write_document(scenario, race(), symptom, "order.race.yaml");
  EXPECT_EQ(text.rfind("# order.race: operation 1, rank 0\n"
                       "#   first     rank 0, stream comm: mean_kernel writes bytes [0, 4) of "
                       "gradients\n"
                       "#   second    rank 0, stream comm: mean_kernel reads bytes [0, 4) of "
                       "gradients\n"
                       "#   missing   no event\n"
                       "#   unordered\n"
                       "# digest 0000000000000abc\n"
                       "# replay: adamant run order.race.yaml\n"
                       "adamant: 1\n",
                       0),
            0U)
      << text;
}

TEST(Document, ReadsBackAsTheScenarioThatExpectsTheFailure) {
  Symptom const symptom{.law = Law::order_race};
  Scenario const scenario = expecting(small_scenario(), symptom);
  EXPECT_EQ(scenario.expect,
            (Expectation{.kind = Expectation::Kind::violates, .id = "order.race"}));
  EXPECT_EQ(load_scenario_text(write_document(scenario, race(), symptom, "x.yaml"), "x.yaml"),
            scenario);
}

TEST(Document, IsNamedByTheBugOrElseByTheLaw) {
  Scenario scenario = small_scenario();
  EXPECT_EQ(stem_of(scenario, {.law = Law::order_race}), "order.race");
  EXPECT_EQ(stem_of(scenario, {.outcome = Outcome::error, .reason = "killed by signal 6"}),
            "error");
  scenario.bug = "te_2795";
  EXPECT_EQ(stem_of(scenario, {.law = Law::order_race}), "te_2795");
}

TEST(Document, OfAProcessThatDiedExpectsNothing) {
  Symptom const symptom{.outcome = Outcome::error, .reason = "killed by signal 6"};
  RunResult died;
  died.outcome = Outcome::error;
  died.reason = "killed by signal 6";
  Scenario const scenario = expecting(small_scenario(), symptom);
  EXPECT_EQ(scenario.expect, Expectation{});
  std::string const text = write_document(scenario, died, symptom, "error.yaml");
  EXPECT_EQ(text.rfind("# killed by signal 6\n", 0), 0U) << text;
  EXPECT_EQ(load_scenario_text(text, "error.yaml"), scenario);
}

}  // namespace
}  // namespace adamant::scenarios
