#include "scenarios/search/minimize/symptom.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

RunResult violated(std::vector<std::string> const& laws) {
  RunResult result;
  result.outcome = Outcome::violated;
  for (std::string const& law : laws) result.violations.emplace_back().law = law;
  return result;
}

RunResult ended(Outcome outcome, std::string reason) {
  RunResult result;
  result.outcome = outcome;
  result.reason = std::move(reason);
  return result;
}

TEST(Symptom, OfSeveralIsTheFirstViolation) {
  auto const symptom = symptom_of(violated({"values.bitwise", "memory.budget"}));
  ASSERT_TRUE(symptom);
  EXPECT_EQ(*symptom, (Symptom{.id = "values.bitwise"}));
}

TEST(Symptom, OfSeveralIsTheOneThatIsExpected) {
  Expectation const expected{.kind = Expectation::Kind::violates, .id = "memory"};
  auto const symptom = symptom_of(violated({"values.bitwise", "memory.budget"}), expected);
  ASSERT_TRUE(symptom);
  EXPECT_EQ(symptom->id, "memory.budget");
  EXPECT_FALSE(symptom->first);
}

TEST(Symptom, OfSeveralIsTheRaceThatExplainsThem) {
  auto const symptom = symptom_of(violated({"access.bounds", "order.race"}));
  ASSERT_TRUE(symptom);
  EXPECT_EQ(symptom->id, "order.race");
}

TEST(Symptom, IsNoneWhereNothingFailed) {
  Expectation const refused{.kind = Expectation::Kind::refused, .id = "any"};
  EXPECT_FALSE(symptom_of(ended(Outcome::pass, "")));
  EXPECT_FALSE(symptom_of(ended(Outcome::refused, "unsupported.layout"), refused));
  EXPECT_TRUE(symptom_of(ended(Outcome::refused, "out_of_memory")));
  EXPECT_TRUE(symptom_of(ended(Outcome::error, "killed")));
}

TEST(Symptom, IsNotShownByAnotherLawOrOutcome) {
  Symptom const bitwise{.id = "values.bitwise"};
  EXPECT_TRUE(shows(violated({"values.bitwise", "order.race"}), bitwise));
  EXPECT_FALSE(shows(violated({"order.race", "values.bitwise"}), bitwise)) << "a consequence";
  EXPECT_FALSE(shows(violated({"values.interval"}), bitwise));
  EXPECT_FALSE(shows(ended(Outcome::error, "killed"), bitwise));
  Symptom const death{.outcome = Outcome::error, .id = "killed by signal 6"};
  EXPECT_TRUE(shows(ended(Outcome::error, "killed by signal 6"), death));
  EXPECT_FALSE(shows(ended(Outcome::error, "killed by signal 11"), death));
}

ViolationReport saying(std::string tensor, std::string message, std::string actual = "") {
  ViolationReport violation;
  violation.message = std::move(message);
  violation.tensor = std::move(tensor);
  violation.actual = std::move(actual);
  return violation;
}

TEST(Symptom, SaysTheSameOfOtherNamesNumbersAndPaths) {
  std::string const said = what_is_said(saying("a/exp_avg", "bits of unit0.a differ, 3 of 4."));
  EXPECT_EQ(what_is_said(saying("layers.1.w/exp_avg", "bits of b/c differ, 1 of 2.")), said);
  EXPECT_NE(what_is_said(saying("a/exp_avg_sq", "bits of unit0.a differ, 3 of 4.")), said);
  EXPECT_NE(what_is_said(saying("a/exp_avg", "types of unit0.a differ")), said);
}

TEST(Symptom, SaysWhatHappenedWhereNoTensorIsConcerned) {
  auto const said = [](std::string actual) {
    return what_is_said(saying("", "not loaded", std::move(actual)));
  };
  EXPECT_EQ(said("Missing key: optim.state.0.step"),
            said("Missing key: optim.state.unit1.b.step."));
  EXPECT_EQ(said("Missing key: optim.state.0.step"), said("Missing key: optim.state.h/0/p0.step."));
  EXPECT_NE(said("Missing key: optim.state.0.step"), said("Missing key: optim.param_groups.0.lr"));
  EXPECT_EQ(said("No such file: '/dev/shm/adamant-Xy/a/.metadata'"),
            said("No such file: '/b/.metadata'"));
  EXPECT_NE(said("No such file: '/b/.metadata'"), said("No such file: '/b/__0_0.distcp'"));
  EXPECT_NE(said("KeyError: 'betas'"), said("KeyError: 'eps'"));
  EXPECT_EQ(what_is_said(saying("a", "bits differ", "1.0")),
            what_is_said(saying("b", "bits differ", "nan")));
}

TEST(Symptom, WithWordsIsNotShownByAnotherDefectOfTheSameLaw) {
  RunResult result = violated({"checkpoint.roundtrip"});
  result.violations[0].message = "bits differ";
  Symptom symptom{.id = "checkpoint.roundtrip", .said = what_is_said(result.violations[0])};
  EXPECT_TRUE(shows(result, symptom));
  result.violations[0].message = "not loaded";
  EXPECT_FALSE(shows(result, symptom));
}

}  // namespace
}  // namespace adamant::scenarios
