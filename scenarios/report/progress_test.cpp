#include "scenarios/report/progress.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

TEST(ProgressLine, HasRateAndTimeLeft) {
  EXPECT_EQ(progress_line("cases", 120, 1000, 1, 3s),
            "120 of 1000 cases, 40/s, 22 s left, 1 not as expected");
  EXPECT_EQ(progress_line("scenarios", 3, 10, 0, 60s), "3 of 10 scenarios, 0.1/s, 3 min left");
  EXPECT_EQ(progress_line("cases", 1, 1000, 0, 60s), "1 of 1000 cases, 0.0/s, 17 h left");
  EXPECT_EQ(progress_line("cases", 10, 10, 0, 2s), "10 of 10 cases, 5.0/s");
}

TEST(ProgressLine, WithoutATotalHasTheRateAlone) {
  EXPECT_EQ(progress_line("runs", 50, 0, 0, 2s), "50 runs, 25/s");
}

TEST(ProgressLine, DoesNotGuessInTheFirstSecond) {
  EXPECT_EQ(progress_line("cases", 5, 10, 0, 900ms), "5 of 10 cases");
  EXPECT_EQ(progress_line("cases", 0, 10, 0, 9s), "0 of 10 cases");
}

}  // namespace
}  // namespace adamant::scenarios
