#include "scenarios/search/failures.h"

#include <gtest/gtest.h>

#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {
namespace {

RunResult violated(Law law, Subject subject = {}) {
  RunResult result;
  result.outcome = Outcome::violated;
  result.engine = "sim";
  result.seed = 3;
  result.choices = {1, 2};
  result.violations.push_back({.law = law, .subject = std::move(subject)});
  return result;
}

RunResult died(std::string reason) {
  RunResult result;
  result.outcome = Outcome::error;
  result.reason = std::move(reason);
  return result;
}

TEST(Failures, TheSameDefectInAnotherTensorIsOne) {
  Failures failures;
  failures.add(
      {9, violated(Law::values_bitwise, Tensor{.parameter = "p0", .kind = TensorKind::exp_avg})});
  failures.add(
      {4, violated(Law::values_bitwise, Tensor{.parameter = "p1", .kind = TensorKind::exp_avg})});
  failures.add({5, violated(Law::values_bitwise, Tensor{.parameter = "p1"})});
  failures.add({6, violated(Law::order_race)});
  failures.add({7, died("killed by signal 6 (Aborted)")});
  auto const found = failures.take();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].case_index, 4U);
  EXPECT_EQ(found[1].case_index, 5U);
  EXPECT_EQ(found[2].case_index, 6U);
  EXPECT_EQ(found[3].case_index, 7U);
}

TEST(Failures, AnEndOfAnEngineIsOneWhateverItsNumbers) {
  auto const ended = [](std::string const& reason) {
    RunResult result;
    result.outcome = Outcome::error;
    result.reason = reason;
    return signature_of(result);
  };
  EXPECT_EQ(ended("state of rank 0: `local/p0` has the shape [2, 4]"),
            ended("state of rank 1: `local/p3` has the shape [3]"));
  EXPECT_NE(ended("request 3 (step): it ended with exit status 3"),
            ended("request 3 (step): it was killed by a signal"));
}

TEST(Failures, TheSameRaceOnAnotherNumberOfBytesIsOne) {
  Failures failures;
  for (char const* const operation : {"ncclAllGather of 16 bytes", "ncclAllGather of 24 bytes"}) {
    RunResult race = violated(Law::order_race);
    race.violations[0].accesses.push_back({.rank = 0,
                                           .stream = "comm",
                                           .operation = operation,
                                           .name = "",
                                           .kind = "read",
                                           .buffer = "w",
                                           .begin = 0,
                                           .end = 16});
    failures.add({0, race});
  }
  EXPECT_EQ(failures.size(), 1U);
}

TEST(Failures, AreKeptForEachSetOfIngredientsTheFewestFirst) {
  Failures failures;
  failures.add({3, violated(Law::checkpoint_roundtrip), {"state_dict=plain"}});
  failures.add({2, violated(Law::checkpoint_atomic), {"state_dict=plain"}});
  failures.add({4, violated(Law::checkpoint_roundtrip)});
  auto const found = failures.take();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].case_index, 4U);
  EXPECT_EQ(found[1].case_index, 2U);
}

TEST(Failures, HaveOptionsAndKindsOfFaultsForIngredients) {
  Scenario scenario = generate_scenario(1, 1);
  scenario.engine.options = {{"format", "dcp"}};
  scenario.faults = {{.at = Fault::Where::save, .then = Fault::Then::crash}};
  EXPECT_EQ(ingredients_of(scenario), (std::set<std::string>{"crash", "format=dcp"}));
}

TEST(Failures, ARaceIsWhatARunFailedBy) {
  RunResult found = violated(Law::access_bounds);
  found.violations.push_back(violated(Law::order_race).violations.front());
  EXPECT_EQ(signature_of(found), signature_of(violated(Law::order_race)));
}

TEST(Failures, AReplayHasTheRecordedSchedule) {
  Scenario scenario = generate_scenario(1, 1);
  scenario.schedule = {.strategy = Schedule::Strategy::random,
                       .seed = 1,
                       .depth = std::nullopt,
                       .choices = std::nullopt};
  Scenario const race = make_replay(scenario, violated(Law::order_race));
  EXPECT_EQ(race.seed, 3U);
  EXPECT_EQ(race.schedule.choices, (std::vector<std::uint32_t>{1, 2}));
}

}  // namespace
}  // namespace adamant::scenarios
