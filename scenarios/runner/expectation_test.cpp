#include "scenarios/runner/expectation.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

RunResult violated(std::vector<Law> const& laws) {
  RunResult result;
  result.outcome = Outcome::violated;
  for (Law const law : laws) {
    result.violations.emplace_back();
    result.violations.back().law = law;
  }
  return result;
}

RunResult refused(std::string reason) {
  RunResult result;
  result.outcome = Outcome::refused;
  result.reason = std::move(reason);
  return result;
}

Expectation violates(std::string law) {
  return {.kind = Expectation::Kind::violates, .id = std::move(law)};
}

Expectation refusal(std::string reason) {
  return {.kind = Expectation::Kind::refused, .id = std::move(reason)};
}

TEST(Expectation, AnyViolationOfTheLawMeetsIt) {
  EXPECT_TRUE(meets(violated({Law::values_bitwise, Law::order_race}), violates("order.race")));
  EXPECT_TRUE(meets(violated({Law::access_bounds}), violates("access")));
  EXPECT_FALSE(meets(violated({Law::order_race}), violates("order.deadlock")));
  EXPECT_FALSE(meets(violated({Law::order_race}), Expectation{}));
}

TEST(Expectation, ARefusalIsMetByItsReasonOrAny) {
  EXPECT_TRUE(meets(refused("unsupported.layout"), refusal("unsupported")));
  EXPECT_TRUE(meets(refused("out_of_memory"), refusal("any")));
  EXPECT_FALSE(meets(refused("out_of_memory"), refusal("unsupported")));
  EXPECT_FALSE(meets(refused("out_of_memory"), Expectation{}));
}

TEST(Expectation, OfARefusalBeforeAnythingRunsIsNotMetByARun) {
  for (char const* const before : {"unsupported", "unsupported.layout", "scalar_parameter"})
    EXPECT_FALSE(may_be_met(refusal(before))) << before;
  for (char const* const later : {"any", "out_of_memory", "damaged_checkpoint"})
    EXPECT_TRUE(may_be_met(refusal(later))) << later;
  EXPECT_TRUE(may_be_met(violates("order.race")));
  EXPECT_TRUE(may_be_met(Expectation{}));
}

TEST(Expectation, IsWrittenAsTheLanguageSaysIt) {
  EXPECT_EQ(text_of(Expectation{}), "pass");
  EXPECT_EQ(text_of(violates("order.race")), "violates order.race");
  EXPECT_EQ(text_of(refusal("any")), "refused any");
}

}  // namespace
}  // namespace adamant::scenarios
