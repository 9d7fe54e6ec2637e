#include "scenarios/campaign/ledger.h"

#include <gtest/gtest.h>

#include <cmath>

namespace adamant::scenarios {
namespace {

/// The chance of at most `failed` failures in `cases` cases that fail with chance `p`, term by
/// term.
double binomial(std::uint64_t failed, std::uint64_t cases, double p) {
  auto const n = static_cast<double>(cases);
  double sum = 0;
  for (std::uint64_t i = 0; i <= failed; ++i) {
    auto const k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(p) + (n - k) * std::log1p(-p));
  }
  return sum;
}

TEST(ChanceAtMost, IsTheLargestWithWhichSoFewFailuresAreNotTooRare) {
  for (std::uint64_t const cases : {1U, 2U, 10U, 1000U, 1'000'000U})
    for (std::uint64_t const failed : {0U, 1U, 2U, 7U, 100U}) {
      if (failed >= cases) continue;
      double const bound = chance_at_most(failed, cases);
      EXPECT_GT(binomial(failed, cases, bound * (1 - 1e-6)), 1 - confidence) << failed << cases;
      EXPECT_LT(binomial(failed, cases, bound * (1 + 1e-6)), 1 - confidence) << failed << cases;
    }
}

TEST(ChanceAtMost, OfOneCaseThatWasFineIsTheConfidence) {
  EXPECT_DOUBLE_EQ(chance_at_most(0, 1), confidence);
  EXPECT_DOUBLE_EQ(chance_at_most(0, 2), 1 - std::sqrt(1 - confidence));
}

TEST(ChanceAtMost, IsOneWhereNothingIsExcluded) {
  EXPECT_EQ(chance_at_most(0, 0), 1);
  EXPECT_EQ(chance_at_most(5, 5), 1);
}

TEST(MissedAtMost, IsTheProductOverSchedules) {
  EXPECT_EQ(missed_at_most({}), 1);
  EXPECT_DOUBLE_EQ(missed_at_most({{0.5, 2}, {0.25, 1}}), 0.1875);
  EXPECT_DOUBLE_EQ(missed_at_most({{0, 1000}, {0.5, 1}}), 0.5);
  EXPECT_EQ(missed_at_most({{1, 1}}), 0);
}

TEST(ShareAtMost, OfSchedulesThatMeetEverythingIsTheChanceOfACase) {
  EXPECT_DOUBLE_EQ(share_at_most({{1, 10}}), chance_at_most(0, 10));
  EXPECT_DOUBLE_EQ(share_at_most({{1, 100'000}}), chance_at_most(0, 100'000));
}

TEST(ShareAtMost, GrowsAsSchedulesMeetLess) {
  EXPECT_DOUBLE_EQ(share_at_most({{0.5, 10}}), 2 * chance_at_most(0, 10));
  EXPECT_EQ(share_at_most({{0.5, 4}}), 1) << "one schedule in sixteen would miss it";
  EXPECT_EQ(share_at_most({}), 1);
}

}  // namespace
}  // namespace adamant::scenarios
