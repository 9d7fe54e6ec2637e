// A violation of every kind goes over the pipe and comes back as it was; and words are only words:
// with others in their place everything that is decided stays the same.
#include "scenarios/report/violation_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "scenarios/report/testing/violations.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {
namespace {

using Json = StrictJson;

Violation over_the_pipe(Violation const& violation) {
  return violation_from_json(Json::parse(to_json(violation).dump()));
}

TEST(ViolationJson, BringsBackEveryKindOfViolation) {
  for (Violation const& violation : one_of_each())
    EXPECT_EQ(over_the_pipe(violation), violation) << to_json(violation).dump(1);
}

constexpr std::size_t breach_count = judged_breach_count + std::size(sim::breach_names);

TEST(ViolationJson, KnowsEveryBreach) {
  std::set<Breach> seen;
  for (Violation const& violation : one_of_each()) seen.insert(violation.breach);
  EXPECT_EQ(seen.size(), breach_count);
}

TEST(ViolationJson, BringsBackEveryBit) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float const value : {-0.0F, infinity, -infinity, std::nanf("7"), -std::nanf("7")}) {
    Violation const violation{.expected = Number(value), .actual = Number(0.0F)};
    EXPECT_EQ(over_the_pipe(violation), violation) << value;
  }
}

TEST(ViolationJson, CountsAThreadThatIsNoRankForNone) {
  Json const json =
      to_json({.law = Law::error_thread, .breach = Breach::foreign_thread, .rank = -1, .count = 2});
  EXPECT_EQ(json.at("rank"), -1);
  EXPECT_EQ(json.at("ranks"), Json::array());
}

TEST(ViolationJson, TakesNothingFromWords) {
  for (Violation const& violation : one_of_each()) {
    Json json = to_json(violation);
    for (char const* const key :
         {"message", "tensor", "expected", "actual", "expected_decimal", "actual_decimal"})
      if (json.contains(key)) json[key] = "other words";
    EXPECT_EQ(violation_from_json(json), violation) << json.dump(1);
  }
}

/// Replaces every text under one of `keys`, wherever it is in `json`; says how many there were.
int replace_words(Json& json, std::set<std::string> const& keys) {
  int replaced = 0;
  if (json.is_array())
    for (Json& part : json) replaced += replace_words(part, keys);
  if (!json.is_object()) return replaced;
  for (auto const& [key, value] : json.items()) {
    replaced += replace_words(value, keys);
    if (!keys.contains(key) || !value.is_string()) continue;
    value = "of a newer adamant";
    ++replaced;
  }
  return replaced;
}

TEST(ViolationJson, AWordThatItDoesNotKnowIsNotTakenForAnother) {
  std::set<std::string> met;
  for (Violation const& violation : one_of_each())
    for (char const* const key : {"law", "breach", "kind", "scaling", "buffers", "ending", "damage",
                                  "format", "recipe", "optimizer", "part"}) {
      Json json = to_json(violation);
      json.erase("accesses");  // whose `kind` is a text
      json.erase("kind");      // of an exception, likewise
      if (replace_words(json, {key}) == 0) continue;
      met.insert(key);
      EXPECT_THROW(violation_from_json(json), std::invalid_argument) << key << json.dump(1);
    }
  EXPECT_EQ(met.size(), 11U);
}

TEST(ViolationJson, AnIntegerThatIsNoneIsNotCutOff) {
  for (char const* const number : {"4.9", "1e300", "9223372036854775808", "true"})
    for (char const* const key : {"index", "count", "rank", "operation"}) {
      Json json = to_json({.index = 3});
      json[key] = Json::parse(number);
      EXPECT_THROW(violation_from_json(json), Json::exception) << key << number;
    }
}

TEST(Words, SayOfEveryBreachWhatIsWrong) {
  std::set<std::string> sentences;
  for (Violation const& violation : one_of_each()) {
    EXPECT_NE(message_of(violation), "") << name_of(violation.breach);
    sentences.insert(message_of(violation));
  }
  EXPECT_GE(sentences.size(), breach_count - 1);
}

TEST(ViolationJson, ElementsThatNoTensorHasAreRefused) {
  Violation const whole{.law = Law::values_bitwise,
                        .breach = Breach::other_value,
                        .elements = WrongElements{.ranges = {{3, 5}, {7, 7}}, .count = 2}};
  StrictJson const right = to_json(whole);
  EXPECT_EQ(violation_from_json(right), whole);
  for (auto const& [begin, end] : {std::pair<std::int64_t, std::int64_t>{7, 6},
                                   {-1, 3},
                                   {7, std::numeric_limits<std::int64_t>::min()},
                                   {0, std::numeric_limits<std::int64_t>::max()}}) {
    StrictJson json = right;
    json["elements"]["ranges"][1] = StrictJson::array({begin, end});
    EXPECT_THROW(violation_from_json(json), std::invalid_argument) << json.dump();
  }
  StrictJson json = right;
  json["elements"]["count"] = -1;
  EXPECT_THROW(violation_from_json(json), std::invalid_argument);
}

TEST(Words, AreWhatReportsHaveAlwaysSaid) {
  EXPECT_EQ(
      in_one_line(
          {.law = Law::values_interval,
           .breach = Breach::outside_reduction,
           .operation = 2,
           .subject = Tensor{.parameter = "w", .kind = TensorKind::gradient},
           .index = 3,
           .expected = Interval{.finite_possible = true, .lo = 1, .hi = 2, .may_be_nan = true},
           .actual = Number(4.0F)}),
      "values.interval: no order of summation leads to this gradient, operation 2, rank 0, "
      "w/gradient[3]: expected [0x1p+0, 0x1p+1] or nan, found 0x1p+2");
  EXPECT_EQ(in_one_line({.law = Law::ranks_agree,
                         .breach = Breach::other_scaling,
                         .rank = 1,
                         .subject = ScalingNumber::coefficient,
                         .expected = Number(1.0F),
                         .actual = Number(0.5F)}),
            "ranks.agree: the rank's clip coefficient differs from rank 0's, rank 1, clip "
            "coefficient: expected 0x1p+0, found 0x1p-1");
  EXPECT_EQ(in_one_line({.law = Law::checkpoint_integrity,
                         .breach = Breach::damage_misjudged,
                         .subject = DamagedFiles{{.file = "a/x", .at = 7},
                                                 {.file = "a/y", .how = Fault::Then::truncate}},
                         .reason = "incompatible_checkpoint",
                         .text = "no"}),
            "checkpoint.integrity: damage was taken for something else: a/x has a flipped bit in "
            "byte 7; a/y was cut to 0 bytes, rank 0: expected a refusal: damaged_checkpoint, found "
            "incompatible_checkpoint: no");
  EXPECT_EQ(message_of({.law = Law::error_clean,
                        .breach = Breach::failed,
                        .subject = Call{.verb = "step", .ending = Ending::signal, .status = "11"}}),
            "the operation failed: step: the process of the rank died of signal 11");
}

}  // namespace
}  // namespace adamant::scenarios
