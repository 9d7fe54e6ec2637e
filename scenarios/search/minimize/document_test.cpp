#include "scenarios/search/minimize/document.h"

#include <gtest/gtest.h>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

Writer const writer{.version = "0.1.0", .commit = "6a20073"};

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
                                  .name = "",
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
  std::string const text = write_document(scenario, race(), symptom, "order.race.yaml", writer);
  EXPECT_EQ(text.rfind("# order.race: operation 1, rank 0\n"
                       "#   first     rank 0, stream comm: mean_kernel writes bytes [0, 4) of "
                       "gradients\n"
                       "#   second    rank 0, stream comm: mean_kernel reads bytes [0, 4) of "
                       "gradients\n"
                       "#   missing   no event\n"
                       "#   unordered\n"
                       "# written by adamant 0.1.0, commit 6a20073, engine sim, schedule fifo\n"
                       "# digest 0000000000000abc\n"
                       "# checksum ",
                       0),
            0U)
      << text;
  EXPECT_NE(text.find("\n# replay: adamant run order.race.yaml\nadamant: 1\n"), std::string::npos)
      << text;
}

TEST(Document, HasTheChecksumOfItsScenarioAndTheWordsOfItsSchedule) {
  Symptom const symptom{.law = Law::order_race};
  Scenario scenario = expecting(small_scenario(), symptom);
  scenario.schedule = {.choices = std::vector<std::uint32_t>{0, 1}};
  auto const written = provenance_in(write_document(scenario, race(), symptom, "x.yaml", writer));
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->checksum, checksum_of(write_scenario(scenario)));
  EXPECT_EQ(written->schedule, "2 recorded choices");
  scenario.schedule = {.strategy = Schedule::Strategy::pct, .seed = 3, .depth = 2};
  Provenance const other = provenance_of(scenario, race(), writer);
  EXPECT_EQ(other.schedule, "pct, seed 3, depth 2");
  EXPECT_NE(other.checksum, written->checksum);
}

TEST(Document, ReadsBackAsTheScenarioThatExpectsTheFailure) {
  Symptom const symptom{.law = Law::order_race};
  Scenario const scenario = expecting(small_scenario(), symptom);
  EXPECT_EQ(scenario.expect,
            (Expectation{.kind = Expectation::Kind::violates, .id = "order.race"}));
  EXPECT_EQ(
      load_scenario_text(write_document(scenario, race(), symptom, "x.yaml", writer), "x.yaml"),
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

TEST(Document, HasANameThatTellsItFromOthersOfItsLaw) {
  Scenario scenario = small_scenario();
  Symptom const symptom{.law = Law::values_bitwise};
  Violation wrong{.law = Law::values_bitwise,
                  .breach = Breach::other_value,
                  .operation = 0,
                  .subject = Tensor{.parameter = "p0", .kind = TensorKind::exp_avg}};
  std::string const verb(word_of(scenario.program[0].action));
  std::string const begin = "what breaks values.bitwise with ";
  EXPECT_EQ(expecting(scenario, symptom, &wrong).name, begin + "exp_avg at " + verb);
  wrong.subject = Tensor{.parameter = "p0", .kind = TensorKind::parameter};
  EXPECT_EQ(expecting(scenario, symptom, &wrong).name, begin + "weight at " + verb);
  wrong.operation = static_cast<int>(scenario.program.size()) - 1;
  EXPECT_EQ(expecting(scenario, symptom, &wrong).name, begin + "weight at check");
  wrong.operation = -1;
  wrong.subject = StepCount{.parameter = "p0"};
  EXPECT_EQ(expecting(scenario, symptom, &wrong).name, begin + "step");
  EXPECT_EQ(expecting(scenario, {.law = Law::order_race}, &race().violations.front()).name,
            "what breaks order.race with gradients at backward");
}

TEST(Document, OfAProcessThatDiedExpectsNothing) {
  Symptom const symptom{.outcome = Outcome::error, .reason = "killed by signal 6"};
  RunResult died;
  died.outcome = Outcome::error;
  died.reason = "killed by signal 6";
  Scenario const scenario = expecting(small_scenario(), symptom);
  EXPECT_EQ(scenario.expect, Expectation{});
  std::string const text = write_document(scenario, died, symptom, "error.yaml", writer);
  EXPECT_EQ(text.rfind("# killed by signal 6\n", 0), 0U) << text;
  EXPECT_EQ(load_scenario_text(text, "error.yaml"), scenario);
}

}  // namespace
}  // namespace adamant::scenarios
