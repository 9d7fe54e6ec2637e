#include "scenarios/search/minimize/symptom.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

RunResult violated(std::vector<Law> const& laws) {
  RunResult result;
  result.outcome = Outcome::violated;
  for (Law const law : laws) result.violations.emplace_back().law = law;
  return result;
}

RunResult ended(Outcome outcome, std::string reason) {
  RunResult result;
  result.outcome = outcome;
  result.reason = std::move(reason);
  return result;
}

TEST(Symptom, OfSeveralIsTheFirstViolation) {
  auto const symptom = symptom_of(violated({Law::values_bitwise, Law::memory_budget}));
  ASSERT_TRUE(symptom);
  EXPECT_EQ(*symptom, (Symptom{.law = Law::values_bitwise}));
}

TEST(Symptom, OfSeveralIsTheOneThatIsExpected) {
  Expectation const expected{.kind = Expectation::Kind::violates, .id = "memory"};
  auto const symptom = symptom_of(violated({Law::values_bitwise, Law::memory_budget}), expected);
  ASSERT_TRUE(symptom);
  EXPECT_EQ(symptom->law, Law::memory_budget);
  EXPECT_FALSE(symptom->first);
}

TEST(Symptom, OfSeveralIsTheRaceThatExplainsThem) {
  auto const symptom = symptom_of(violated({Law::access_bounds, Law::order_race}));
  ASSERT_TRUE(symptom);
  EXPECT_EQ(symptom->law, Law::order_race);
}

TEST(Symptom, IsNoneWhereNothingFailed) {
  Expectation const refused{.kind = Expectation::Kind::refused, .id = "any"};
  EXPECT_FALSE(symptom_of(ended(Outcome::pass, "")));
  EXPECT_FALSE(symptom_of(ended(Outcome::refused, "unsupported.layout"), refused));
  EXPECT_TRUE(symptom_of(ended(Outcome::refused, "out_of_memory")));
  EXPECT_TRUE(symptom_of(ended(Outcome::error, "killed")));
}

TEST(Symptom, IsNotShownByAnotherLawOrOutcome) {
  Symptom const bitwise{.law = Law::values_bitwise};
  EXPECT_TRUE(shows(violated({Law::values_bitwise, Law::order_race}), bitwise));
  EXPECT_FALSE(shows(violated({Law::order_race, Law::values_bitwise}), bitwise)) << "a consequence";
  EXPECT_FALSE(shows(violated({Law::values_interval}), bitwise));
  EXPECT_FALSE(shows(ended(Outcome::error, "killed"), bitwise));
  Symptom const death{.outcome = Outcome::error, .reason = "killed by signal 6"};
  EXPECT_TRUE(shows(ended(Outcome::error, "killed by signal 6"), death));
  EXPECT_FALSE(shows(ended(Outcome::error, "killed by signal 11"), death));
}

Violation differing(std::string parameter, TensorKind kind) {
  return {.subject = Tensor{.parameter = std::move(parameter), .kind = kind}};
}

TEST(Symptom, LooksAlikeInAnotherParameter) {
  std::string const likeness = likeness_of(differing("a", TensorKind::exp_avg));
  EXPECT_EQ(likeness_of(differing("layers.1/w", TensorKind::exp_avg)), likeness);
  EXPECT_NE(likeness_of(differing("a", TensorKind::exp_avg_sq)), likeness);
  Violation other_type = differing("a", TensorKind::exp_avg);
  other_type.breach = Breach::other_type;
  EXPECT_NE(likeness_of(other_type), likeness);
}

TEST(Symptom, LooksAlikeWhateverTheNumbers) {
  Violation violation = differing("a", TensorKind::parameter);
  std::string const likeness = likeness_of(violation);
  violation.rank = 3;
  violation.index = 5;
  violation.operation = 1;
  violation.expected = Number(1.0F);
  violation.actual = Number(2.0F);
  violation.ulp = 8388608;
  EXPECT_EQ(likeness_of(violation), likeness);
}

TEST(Symptom, OfDamageIsWhatWasDoneToFiles) {
  auto const likeness = [](std::string file, Fault::Then how) {
    return likeness_of({.breach = Breach::damage_misjudged,
                        .subject = DamagedFiles{{.file = std::move(file), .how = how}}});
  };
  std::string const flipped = likeness("a", Fault::Then::flip_byte);
  EXPECT_EQ(likeness("b", Fault::Then::flip_byte), flipped);
  EXPECT_NE(likeness("a", Fault::Then::truncate), flipped);
}

TEST(Symptom, OfSettingsIsTheFirstThatDiffers) {
  auto const likeness = [](AdamConfig const& actual) {
    return likeness_of({.breach = Breach::other_settings,
                        .subject = GroupSettings{},
                        .expected = AdamConfig{},
                        .actual = actual});
  };
  EXPECT_EQ(likeness({.learning_rate = 1}), likeness({.learning_rate = 2, .epsilon = 2}));
  EXPECT_NE(likeness({.learning_rate = 1}), likeness({.epsilon = 1}));
  EXPECT_NE(likeness({.beta1 = 0.5F}), likeness({.beta2 = 0.5F}));
}

TEST(Symptom, OfWhatAnEngineSaysAreItsWordsWithoutNames) {
  auto const said = [](std::string text) {
    return likeness_of({.breach = Breach::not_loaded, .text = std::move(text)});
  };
  EXPECT_EQ(said("Missing key: optim.state.0.step"),
            said("Missing key: optim.state.unit1.b.step."));
  EXPECT_EQ(said("Missing key: optim.state.0.step"), said("Missing key: optim.state.h/0/p0.step."));
  EXPECT_NE(said("Missing key: optim.state.0.step"), said("Missing key: optim.param_groups.0.lr"));
  EXPECT_EQ(said("No such file: '/dev/shm/adamant-Xy/a/.metadata'"),
            said("No such file: '/b/.metadata'"));
  EXPECT_NE(said("No such file: '/b/.metadata'"), said("No such file: '/b/__0_0.distcp'"));
  EXPECT_NE(said("KeyError: 'betas'"), said("KeyError: 'eps'"));
}

TEST(Symptom, WithALikenessIsNotShownByAnotherDefectOfTheSameLaw) {
  RunResult result = violated({Law::checkpoint_roundtrip});
  Symptom const symptom{.law = Law::checkpoint_roundtrip,
                        .likeness = likeness_of(result.violations[0])};
  EXPECT_TRUE(shows(result, symptom));
  result.violations[0].breach = Breach::not_loaded;
  EXPECT_FALSE(shows(result, symptom));
}

}  // namespace
}  // namespace adamant::scenarios
