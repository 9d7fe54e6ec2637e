#include "scenarios/report/json.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

RunResult make_result() {
  RunResult result;
  result.name = "two ranks";
  result.file = "scenarios/corpus/two.yaml";
  result.engine = "sim";
  result.seed = 18446744073709551615U;
  result.outcome = Outcome::violated;
  result.expected = "pass";
  result.operations = 9;
  result.schedules = 3;
  result.digest = 0xabc;
  result.values_digest = 0xdef;
  result.warnings.push_back({.law = Law::memory_leak,
                             .breach = Breach::never_freed,
                             .rank = 1,
                             .subject = Named{"gradient"},
                             .text = "gradient of 64 bytes is never freed",
                             .at = {.file = "main.cu", .line = 3, .function = "train"}});
  result.wall_seconds = 0.25;
  result.simulated_seconds = 0.125;
  result.device_peak_bytes = 4096;
  result.choices = {1, 0, 2};
  result.notes = {"a note"};
  result.violations.push_back({.law = Law::values_bitwise,
                               .breach = Breach::other_value,
                               .operation = 4,
                               .rank = 1,
                               .subject = Tensor{.parameter = "w", .kind = TensorKind::exp_avg},
                               .index = 17,
                               .expected = Number(0x1.2p-3F),
                               .actual = Number(0x1.3p-3F),
                               .ulp = 1048576});
  result.violations.push_back({.law = Law::order_race,
                               .breach = Breach::unordered_accesses,
                               .accesses = {{.rank = 0,
                                             .stream = "comm",
                                             .operation = "ncclAllGather",
                                             .name = "",
                                             .kind = "write",
                                             .buffer = "whole#2",
                                             .begin = 0,
                                             .end = 64},
                                            {.rank = 1,
                                             .stream = "host",
                                             .operation = "host code",
                                             .name = "",
                                             .kind = "read",
                                             .buffer = "whole#2",
                                             .begin = 0,
                                             .end = 4}},
                               .missing = "an event"});
  return result;
}

TEST(Json, ADeadlockHasTheKeysOfItsLawWithNothingInThem) {
  Violation deadlock;
  deadlock.law = Law::order_deadlock;
  deadlock.breach = Breach::deadlock;
  RunResult stuck;
  stuck.violations = {deadlock};
  auto const written = to_json(stuck).at("violations").at(0);
  EXPECT_TRUE(written.at("accesses").empty());
  EXPECT_EQ(written.at("missing"), "");
}

TEST(Json, HasTheKeysOfTheContract) {
  auto const json = to_json(make_result());
  EXPECT_EQ(json.at("scenario"), "two ranks");
  EXPECT_EQ(json.at("outcome"), "violated");
  EXPECT_EQ(json.at("seed").get<std::uint64_t>(), 18446744073709551615U);
  EXPECT_EQ(json.at("digest"), "0000000000000abc");
  EXPECT_EQ(json.at("memory").at("device_peak_bytes"), 4096);
  auto const& value = json.at("violations").at(0);
  EXPECT_EQ(value.at("index"), 17);
  EXPECT_EQ(value.at("tensor"), "w/exp_avg");
  EXPECT_EQ(value.at("expected"), "0x1.2p-3");
  EXPECT_EQ(value.at("expected_decimal"), "0.140625");
  EXPECT_EQ(value.at("actual"), "0x1.3p-3");
  EXPECT_EQ(value.at("ulp"), 1048576);
  EXPECT_EQ(value.at("message"), "the engine's bits differ from the oracle's");
  EXPECT_FALSE(value.contains("accesses"));
  auto const& race = json.at("violations").at(1);
  EXPECT_TRUE(race.at("operation").is_null());
  EXPECT_FALSE(race.contains("tensor"));
  EXPECT_EQ(race.at("accesses").at(0).at("stream"), "comm");
  EXPECT_EQ(race.at("missing"), "an event");
}

TEST(Json, ALineBringsBackWhatWasSent) {
  auto const sent = to_json(make_result());
  std::string const line = to_line(sent);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  auto const received = result_from_json(nlohmann::ordered_json::parse(line));
  EXPECT_EQ(to_json(received), sent);
  EXPECT_EQ(received.choices, make_result().choices);
  EXPECT_EQ(received.violations, make_result().violations);
}

TEST(Json, ALineBringsBackWhereARunWasRefused) {
  RunResult result = make_result();
  result.outcome = Outcome::refused;
  result.message = "no memory";
  result.failed_at = FailedAt{.rank = 2, .operation = 5, .thrown = {.traceback = "frame 0\n"}};
  auto const sent = to_json(result);
  EXPECT_EQ(sent.at("message"), "rank 2, operation 5: no memory");
  RunResult const received = result_from_json(sent);
  EXPECT_EQ(received.message, "no memory");
  ASSERT_TRUE(received.failed_at);
  EXPECT_EQ(received.failed_at->rank, 2);
  EXPECT_EQ(received.failed_at->operation, 5);
  EXPECT_EQ(received.failed_at->thrown, result.failed_at->thrown);
}

TEST(Json, AnOutcomeThatItDoesNotKnowIsNotTakenForAnother) {
  auto json = to_json(make_result());
  json["outcome"] = "skipped";
  EXPECT_THROW(result_from_json(json), std::invalid_argument);
}

TEST(Json, ChoicesAreKeptOnlyWhereAReplayNeedsThem) {
  RunResult result = make_result();
  result.met = true;
  EXPECT_FALSE(to_json(result).contains("choices"));
}

TEST(Json, WhatSteersATerminalIsWrittenByItsNumber) {
  RunResult result = make_result();
  result.name = "größe \u009b\u202e\x7f\U000e0041";
  std::string const text = to_text(to_json(result));
  EXPECT_NE(text.find("größe \\u009b\\u202e\\u007f\\udb40\\udc41"), std::string::npos) << text;
  EXPECT_EQ(StrictJson::parse(text), to_json(result));
}

TEST(Json, BrokenUtf8IsReplacedAndNotRefused) {
  RunResult result = make_result();
  result.name = "a\xff";
  EXPECT_NE(to_text(to_json(result)).find("a\xef\xbf\xbd"), std::string::npos);
}

}  // namespace
}  // namespace adamant::scenarios
