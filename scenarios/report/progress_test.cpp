#include "scenarios/report/progress.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

TEST(ProgressLine, HasRateAndTimeLeft) {
  EXPECT_EQ(progress_line("cases", {.done = 120, .total = 1000, .failed = 1}, 3s),
            "120 of 1000 cases, 40/s, 22 s left, 1 not as expected");
  EXPECT_EQ(progress_line("scenarios", {.done = 3, .total = 10}, 60s),
            "3 of 10 scenarios, 0.1/s, 3 min left");
  EXPECT_EQ(progress_line("cases", {.done = 1, .total = 1000}, 60s),
            "1 of 1000 cases, 0.0/s, 17 h left");
  EXPECT_EQ(progress_line("cases", {.done = 10, .total = 10}, 2s), "10 of 10 cases, 5.0/s");
}

TEST(ProgressLine, WithoutATotalHasTheRateAlone) {
  EXPECT_EQ(progress_line("runs", {.done = 50}, 2s), "50 runs, 25/s");
  EXPECT_EQ(progress_line("runs", {.done = 1}, 500ms), "1 run");
  EXPECT_EQ(progress_line("runs", {.done = 0, .total = 1}, 500ms), "0 of 1 run");
  EXPECT_EQ(progress_line("runs", {.done = 1, .total = 9}, 500ms), "1 of 9 runs");
}

TEST(ProgressLine, SaysThatABoundIsOne) {
  EXPECT_EQ(progress_line("runs", {.done = 50, .total = 1000, .at_most = true}, 2s),
            "50 runs, 25/s, at most 38 s left");
  EXPECT_EQ(progress_line("runs", {.done = 1001, .total = 1000, .at_most = true}, 2s),
            "1001 runs, 500/s");
}

TEST(ProgressLine, DoesNotGuessInTheFirstSecond) {
  EXPECT_EQ(progress_line("cases", {.done = 5, .total = 10}, 900ms), "5 of 10 cases");
  EXPECT_EQ(progress_line("cases", {.done = 0, .total = 10}, 9s), "0 of 10 cases");
}

}  // namespace
}  // namespace adamant::scenarios
