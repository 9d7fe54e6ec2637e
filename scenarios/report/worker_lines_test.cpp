// What a search says of a case: nothing where it ended as expected, and nothing of a load that
// returned what was saved although a bit was flipped that its engine never promised to notice.
#include "scenarios/report/worker_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "scenarios/runner/testing/numpy_engine.h"
#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

class SearchInWorker : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_numpy())
      GTEST_SKIP() << python_program() << " has no NumPy (ADAMANT_PYTHON names another)";
    scenario_ = small_scenario();
    scenario_.program = {operation(Train{.count = 1}), operation(Save{.checkpoint = "a"}),
                         operation(Load{.from = "a"})};
    scenario_.expect = {.kind = Expectation::Kind::refused, .id = "damaged_checkpoint"};
  }

  nlohmann::ordered_json search(std::string const& arguments) const {
    RunOptions options;
    options.engine =
        "exec:" + python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy " + arguments;
    return search_in_worker(scenario_, options);
  }

  Scenario scenario_;
};

std::string outcome_of(nlohmann::ordered_json const& line) {
  if (!line.contains("result")) return line.dump();
  return line.at("result").at("outcome");
}

TEST_F(SearchInWorker, SaysNothingOfDamageThatWasReported) {
  scenario_.faults = {harmless_damage()};
  EXPECT_EQ(search("").dump(), "{}");
}

TEST_F(SearchInWorker, SaysNothingOfHarmlessDamageThatNobodyPromisedToNotice) {
  scenario_.faults = {harmless_damage()};
  EXPECT_EQ(search(promises_less).dump(), "{}");
}

TEST_F(SearchInWorker, SaysThatAPromiseWasBroken) {
  scenario_.faults = {harmless_damage()};
  EXPECT_EQ(outcome_of(search(no_checksums)), "violated");
}

TEST_F(SearchInWorker, SaysThatWhatWasLoadedIsWrong) {
  scenario_.faults = {harmful_damage()};
  EXPECT_EQ(outcome_of(search(promises_less)), "violated");
}

TEST_F(SearchInWorker, SaysThatNothingWasRefusedWhereNothingWasDamaged) {
  EXPECT_EQ(outcome_of(search(promises_less)), "pass");
}

}  // namespace
}  // namespace adamant::scenarios
