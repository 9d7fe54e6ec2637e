// A load on another world ends the world before it. What both of them show alike is one mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scenarios/engines/sim/sim_findings.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"
#include "scenarios/runner/testing/small_scenario.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

/// Two steps with nothing between them, which race with this bug, on two ranks; then the same on
/// each of the worlds.
RunResult race_on(std::vector<std::int64_t> const& worlds) {
  Scenario scenario = small_scenario();
  scenario.bug = "table_overwritten_under_kernel";
  scenario.world.shard = 2;
  scenario.program = {operation(Save{"a"}), operation(Backward{}), operation(Step{}),
                      operation(Step{})};
  for (std::int64_t const ranks : worlds) {
    scenario.program.push_back(operation(Load{.from = "a", .world = World{.shard = ranks}}));
    scenario.program.push_back(operation(Backward{}));
    scenario.program.push_back(operation(Step{}));
    scenario.program.push_back(operation(Step{}));
  }
  RunOptions options;
  options.lines = true;
  return run_scenario(scenario, options);
}

std::vector<Violation> races_of(RunResult const& result) {
  std::vector<Violation> races;
  std::ranges::copy_if(result.violations, std::back_inserter(races),
                       [](Violation const& each) { return each.law == Law::order_race; });
  return races;
}

TEST(Worlds, ShowOneMistakeOnce) {
  if (!sim::can_check) GTEST_SKIP() << "accesses are not judged beside the address sanitizer";
  std::vector<Violation> const one = races_of(race_on({}));
  std::vector<Violation> const three = races_of(race_on({3, 4}));
  ASSERT_FALSE(one.empty());
  ASSERT_EQ(three.size(), one.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(ranks_of(one[i]), (std::vector{0, 1})) << in_one_line(one[i]);
    EXPECT_EQ(ranks_of(three[i]), (std::vector{0, 1, 2, 3})) << in_one_line(three[i]);
    EXPECT_GT(three[i].count, one[i].count);
    EXPECT_EQ(three[i].operation, one[i].operation);
    EXPECT_EQ(three[i].accesses.front().at, one[i].accesses.front().at);
  }
}

/// What a world says in which this line leaves buffers of `bytes` in all on a rank.
sim::Report leak(int rank, std::int64_t count, std::uint64_t bytes, int line) {
  sim::Report report;
  report.warnings = {{.law = sim::Law::memory_leak,
                      .breach = sim::Breach::never_freed,
                      .rank = rank,
                      .message = "a buffer of " + std::to_string(bytes) + " bytes is never freed",
                      .at = {.file = "engine.cpp", .line = line},
                      .ranks = {rank},
                      .count = count,
                      .bytes = bytes}};
  return report;
}

TEST(Worlds, LeaveTheLeaksOfALineAsOne) {
  SimFindings findings;
  findings.add(leak(0, 3, 448, 7), {}, 0);
  findings.add(leak(0, 1, 64, 8), {}, 0);
  findings.add(leak(1, 2, 192, 7), {}, 0);
  std::vector<Violation> const warnings = findings.warnings();
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(repetitions_in_words(warnings[0]), "5 times, on ranks 0, 1");
  EXPECT_EQ(sides_in_words(warnings[0]).expected, "nothing");
  EXPECT_EQ(sides_in_words(warnings[0]).actual, "640 bytes");
  EXPECT_EQ(sides_in_words(warnings[1]).actual, "64 bytes");
}

TEST(Worlds, TellWhatAThreadOfNoRankDid) {
  sim::Report report;
  report.warnings = {{.law = sim::Law::error_thread,
                      .breach = sim::Breach::foreign_thread,
                      .rank = sim::Violation::no_rank,
                      .count = 2}};
  SimFindings findings;
  findings.add(report, {}, 0);
  std::vector<Violation> const warnings = findings.warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(id_of(warnings[0].law), "error.thread");
  EXPECT_EQ(place_in_words(warnings[0]), "no rank");
  EXPECT_EQ(repetitions_in_words(warnings[0]), "2 times");
}

/// What a world says in which the harness found `count` things of its own on a rank.
sim::Report of_harness(int count = 1, int rank = 0) {
  sim::Report report;
  for (int number = 0; number < count; ++number)
    report.violations.push_back({.law = sim::Law::of_harness,
                                 .breach = sim::Breach::of_harness,
                                 .rank = rank,
                                 .ranks = {rank},
                                 .number = number});
  return report;
}

TEST(Worlds, TellEachWhatItsHarnessFound) {
  SimFindings findings;
  findings.add(of_harness(), {{.law = Law::error_clean, .text = "the first"}}, 0);
  findings.add(of_harness(), {{.law = Law::error_clean, .text = "the second"}}, 0);
  std::vector<Violation> const violations = findings.violations();
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].text, "the first");
  EXPECT_EQ(violations[1].text, "the second");
}

TEST(Worlds, TellOnceWhatTheirHarnessFoundInSeveral) {
  auto const unclean = [](int operation, int rank, std::string const& text) {
    return Violation{.law = Law::error_clean,
                     .breach = Breach::silent_about_state,
                     .operation = operation,
                     .rank = rank,
                     .text = text};
  };
  SimFindings findings;
  findings.add(of_harness(1, 0), {unclean(2, 0, "no")}, 0);
  findings.add(of_harness(2, 1), {unclean(4, 1, "another"), unclean(4, 1, "no")}, 0);
  findings.add(of_harness(1, 3), {unclean(6, 3, "no")}, 0);
  std::vector<Violation> const violations = findings.violations();
  ASSERT_EQ(violations.size(), 2U);
  EXPECT_EQ(violations[0].text, "no");
  EXPECT_EQ(violations[0].operation, 2);
  EXPECT_EQ(repetitions_in_words(violations[0]), "3 times, on ranks 0, 1, 3");
  EXPECT_EQ(violations[1].text, "another");
  EXPECT_EQ(repetitions_in_words(violations[1]), "");
}

}  // namespace
}  // namespace adamant::scenarios
