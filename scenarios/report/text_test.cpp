#include "scenarios/report/text.h"

#include <gtest/gtest.h>

#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {
namespace {

Reported make_failure() {
  Reported reported;
  reported.result.name = "two ranks";
  reported.result.file = "two.yaml";
  reported.result.outcome = Outcome::violated;
  reported.result.expected = "pass";
  reported.replay = "adamant run two.yaml --seed 7";
  reported.result.violations.push_back(
      {.law = Law::values_bitwise,
       .breach = Breach::other_value,
       .operation = 4,
       .rank = 1,
       .subject = Tensor{.parameter = "w", .kind = TensorKind::exp_avg},
       .index = 17,
       .expected = Number(0x1.2p-3F),
       .actual = Number(0x1.3p-3F),
       .ulp = 1048576});
  return reported;
}

TEST(Text, AFailureNamesLawPlaceBothValuesAndTheReplay) {
  EXPECT_EQ(describe(make_failure(), Style{}),
            "FAIL  two.yaml: two ranks\n"
            "    expected pass, outcome violated\n"
            "  values.bitwise: operation 4, rank 1, w/exp_avg[17]\n"
            "    expected  0x1.2p-3  (0.140625)\n"
            "    actual    0x1.3p-3  (0.1484375), 1048576 ulp apart\n"
            "                  ^          ^^^^^\n"
            "    the engine's bits differ from the oracle's\n"
            "  replay: adamant run two.yaml --seed 7\n");
}

/// The line of what these are, of a tensor that is cut over ranks.
std::string line_of_elements(WrongElements const& elements) {
  Violation violation = make_failure().result.violations.front();
  violation.elements = elements;
  std::string const text = describe(violation, Style{});
  auto const begin = text.find("    elements");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Text, SaysWhichElementsAreWrongAndWhose) {
  using Part = WrongElements::Part;
  std::vector<ElementRange> const some = {{9, 18}};
  EXPECT_EQ(line_of_elements({some, 9, Part::saved_shards, {1}}),
            "    elements  9 to 17 of w/exp_avg: all that rank 1 had when it was saved");
  EXPECT_EQ(line_of_elements({some, 9, Part::shards, {1, 2}}),
            "    elements  9 to 17 of w/exp_avg: all that ranks 1, 2 have");
  EXPECT_EQ(line_of_elements({some, 9, Part::whole, {}}),
            "    elements  9 to 17 of w/exp_avg: all of it");
  EXPECT_EQ(line_of_elements({some, 9, Part::last_block, {}}),
            "    elements  9 to 17 of w/exp_avg: the last block of its recipe");
  EXPECT_EQ(line_of_elements({{{0, 2}, {5, 6}}, 3, Part::some, {0}}),
            "    elements  0 to 1, 5 of w/exp_avg: of what rank 0 has");
  EXPECT_EQ(line_of_elements({{{0, 2}, {5, 6}}, 20, Part::some, {}}),
            "    elements  0 to 1, 5 and 17 more of w/exp_avg");
  EXPECT_EQ(line_of_elements({{{17, 18}}, 1, Part::some, {1}}), "") << "the place says it";
  std::vector<ElementRange> every_other;
  for (std::int64_t i = 0; i < 20; i += 2) every_other.push_back({i, i + 1});
  EXPECT_EQ(line_of_elements({every_other, 10, Part::some, {}}),
            "    elements  0, 2, 4, 6, 8, 10, 12, 14 and 2 more of w/exp_avg");
}

TEST(Text, WhatFailedWithoutAViolationHasTheEndOfItsTraceback) {
  Reported reported = make_failure();
  reported.result.violations.clear();
  reported.result.failed_at.emplace().thrown.traceback =
      "frame 0\nframe 1\nframe 2\nframe 3\nE: x\n";
  std::string const some = describe(reported, Style{});
  EXPECT_NE(some.find("      frame 3\n      E: x\n"), std::string::npos) << some;
  EXPECT_EQ(some.find("frame 0"), std::string::npos) << some;
  std::string const all = describe(reported, {.verbosity = Verbosity::verbose});
  EXPECT_NE(all.find("      frame 0\n"), std::string::npos) << all;
}

TEST(Text, DigitsThatDifferAreColouredWhereColoursAreOn) {
  Violation const violation = make_failure().result.violations.front();
  std::string const text = describe(violation, Style{.colored = true});
  EXPECT_NE(text.find("expected  0x1.\x1b[32m2\x1b[0mp-3"), std::string::npos) << text;
  EXPECT_NE(text.find("actual    0x1.\x1b[31m3\x1b[0mp-3"), std::string::npos) << text;
  EXPECT_EQ(text.find('^'), std::string::npos) << text;
}

TEST(Text, ARaceNamesBothAccessesAndTheMissingEdge) {
  Violation race;
  race.law = Law::order_race;
  race.breach = Breach::unordered_accesses;
  race.operation = 0;
  race.accesses = {{.rank = 0,
                    .stream = "comm",
                    .operation = "ncclAllGather",
                    .name = "",
                    .kind = "write",
                    .buffer = "whole#2",
                    .begin = 0,
                    .end = 64},
                   {.rank = 0,
                    .stream = "host",
                    .operation = "host code",
                    .name = "",
                    .kind = "read",
                    .buffer = "whole#2",
                    .begin = 60,
                    .end = 64}};
  race.missing = "no event orders comm before host";
  EXPECT_EQ(describe(race, Style{}),
            "  order.race: operation 0, rank 0\n"
            "    first     rank 0, stream comm: ncclAllGather writes bytes [0, 64) of whole#2\n"
            "    second    rank 0, stream host: host code reads bytes [60, 64) of whole#2\n"
            "    missing   no event orders comm before host\n");
}

TEST(Text, AThreadThatIsNoRankIsOnNone) {
  EXPECT_EQ(describe({.law = Law::error_thread,
                      .breach = Breach::foreign_thread,
                      .operation = -1,
                      .rank = -1,
                      .text = "a thread that is no rank's calls cudaMalloc",
                      .count = 2},
                     Style{}),
            "  error.thread: no rank\n"
            "    a thread that is no rank's calls cudaMalloc\n"
            "    found     2 times\n");
}

TEST(Text, ARaceNamesTheLinesOfItsAccessesItsCallsAndItsBuffer) {
  Location const made{.file = "memory.cpp", .line = 13, .function = "Buffer"};
  Violation race{.law = Law::order_race, .breach = Breach::unordered_accesses};
  race.accesses = {{.rank = 1,
                    .stream = "a",
                    .operation = "adam",
                    .name = "",
                    .kind = "write",
                    .buffer = "w",
                    .end = 4,
                    .at = {.file = "adam.cu", .line = 7, .function = "update"},
                    .enqueued_at = {.file = "launch.h",
                                    .line = 26,
                                    .function = "launch",
                                    .callers = {{.file = "step.cpp", .line = 91},
                                                {.file = "step.cpp", .line = 58}}},
                    .allocated_at = made,
                    .freed_at = {.file = "memory.cpp", .line = 20}},
                   {.rank = 1,
                    .stream = "b",
                    .operation = "adam",
                    .name = "",
                    .kind = "write",
                    .buffer = "w",
                    .end = 4,
                    .allocated_at = made,
                    .freed_at = {.file = "memory.cpp", .line = 20}}};
  race.ranks = {1, 3};
  race.count = 14;
  EXPECT_EQ(describe(race, Style{}),
            "  order.race: rank 0\n"
            "    first     rank 1, stream a: adam writes bytes [0, 4) of w\n"
            "              at adam.cu:7 in update\n"
            "              enqueued at launch.h:26 in launch, from step.cpp:91, step.cpp:58\n"
            "    second    rank 1, stream b: adam writes bytes [0, 4) of w\n"
            "    buffer    allocated at memory.cpp:13 in Buffer\n"
            "              freed at memory.cpp:20\n"
            "    found     14 times, on ranks 1, 3\n");
}

TEST(Text, AGraphOnFreedMemoryNamesTheLinesOfItsLaunchAndOfWhatItCaptured) {
  Violation stale{.law = Law::graph_pointer, .breach = Breach::freed_since_capture, .text = "gone"};
  stale.accesses = {{.rank = 1,
                     .stream = "a",
                     .operation = "adam",
                     .name = "",
                     .kind = "write",
                     .buffer = "w",
                     .end = 4,
                     .enqueued_at = {.file = "replay.cpp", .line = 5},
                     .captured_at = {.file = "step.cpp", .line = 80}}};
  stale.missing = "capture again";
  EXPECT_EQ(describe(stale, Style{}),
            "  graph.pointer: rank 0\n"
            "    access    rank 1, stream a: adam writes bytes [0, 4) of w\n"
            "              enqueued at replay.cpp:5\n"
            "              captured at step.cpp:80\n"
            "    missing   capture again\n"
            "    gone\n");
}

TEST(Text, ADeadlockNamesTheLineAtWhichEachRankWaits) {
  Violation deadlock{.law = Law::order_deadlock, .breach = Breach::deadlock, .text = "stuck"};
  deadlock.at = {.file = "a.cpp", .line = 1};
  deadlock.waiting = {{.rank = 0, .at = deadlock.at},
                      {.rank = 2, .at = {.file = "b.cpp", .line = 2}}};
  EXPECT_EQ(describe(deadlock, Style{}),
            "  order.deadlock: rank 0\n"
            "    stuck\n"
            "              rank 0 waits at a.cpp:1\n"
            "              rank 2 waits at b.cpp:2\n");
}

TEST(Text, CallsThatDifferAreNamedWithTheLinesOfBoth) {
  Violation differ{.law = Law::order_collective, .breach = Breach::calls_differ, .text = "8 or 4"};
  differ.rank = 1;
  differ.at = {.file = "a.cpp", .line = 1};
  differ.related = {{.what = "called", .rank = 0, .at = {.file = "b.cpp", .line = 2}},
                    {.what = "called", .rank = 2}};
  EXPECT_EQ(describe(differ, Style{}),
            "  order.collective: rank 1\n"
            "    8 or 4\n"
            "              at a.cpp:1\n"
            "              called by rank 0 at b.cpp:2\n");
}

TEST(Text, QuietSaysNothingAboutSuccess) {
  Reported reported = make_failure();
  EXPECT_NE(describe(reported, {.verbosity = Verbosity::quiet}), "");
  reported.result.met = true;
  EXPECT_EQ(describe(reported, {.verbosity = Verbosity::quiet}), "");
  EXPECT_EQ(describe(reported, {}), "ok    two.yaml: two ranks\n");
}

TEST(Text, ManyViolationsAreCutUnlessVerbose) {
  Reported reported = make_failure();
  reported.result.violations.resize(8, reported.result.violations[0]);
  auto const normal = describe(reported, {});
  EXPECT_NE(normal.find("and 3 more"), std::string::npos);
  auto const verbose = describe(reported, {.verbosity = Verbosity::verbose});
  EXPECT_EQ(verbose.find("more; --verbose"), std::string::npos);
}

TEST(Text, WhatOthersWroteSteersNoTerminal) {
  std::string const steers = "\x1b[2J\u202e\u009b";
  Reported reported = make_failure();
  RunResult& result = reported.result;
  result.name = result.file = result.engine = result.expected = result.reason = steers;
  result.notes = {steers};
  reported.replay = "adamant run " + steers;
  Location const at{.file = steers, .line = 1, .function = steers};
  result.violations.push_back({.law = Law::order_race,
                               .breach = Breach::unordered_accesses,
                               .subject = Named{steers},
                               .text = steers,
                               .thrown = {.kind = steers, .where = steers, .traceback = steers},
                               .accesses = {{.stream = steers,
                                             .operation = steers,
                                             .name = steers,
                                             .kind = steers,
                                             .buffer = steers,
                                             .at = at}},
                               .missing = steers,
                               .at = at,
                               .related = {{.what = steers, .at = at}}});
  std::string const text = describe(reported, {.verbosity = Verbosity::verbose});
  EXPECT_EQ(printable_lines(text), text) << text;
  EXPECT_EQ(printable_lines(annotation(reported)), annotation(reported));
}

TEST(Text, ColoursAreThereWhereTheyAreWanted) {
  Style const colored{.verbosity = Verbosity::normal, .colored = true};
  EXPECT_EQ(colored.paint(Color::red, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Style{}.paint(Color::red, "x"), "x");
  EXPECT_TRUE(wants_color(ColorMode::always, false));
  EXPECT_FALSE(wants_color(ColorMode::never, true));
  EXPECT_FALSE(wants_color(ColorMode::automatic, false));
}

TEST(Text, ASlowRateIsNotZero) {
  EXPECT_EQ(per_second(1429.6), "1430");
  EXPECT_EQ(per_second(0.46), "0.5");
}

}  // namespace
}  // namespace adamant::scenarios
