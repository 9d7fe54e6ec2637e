#include "oracle/interval/admissible.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "oracle/formats/formats.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

TEST(Admissible, IsAnIntervalAndClassesBesideIt) {
  Admissible const set{.finite_possible = true, .lo = 1.0F, .hi = 3.0F, .may_be_neg_inf = true};
  EXPECT_TRUE(set.contains(1.0F));
  EXPECT_TRUE(set.contains(3.0F));
  EXPECT_TRUE(set.contains(-inf));
  EXPECT_FALSE(set.contains(inf));
  EXPECT_FALSE(set.contains(NAN));
  EXPECT_FALSE(set.contains(std::nextafter(3.0F, 4.0F)));
  EXPECT_EQ(set.used(2.0F), 0.0);
  EXPECT_EQ(set.used(3.0F), 1.0);
}

TEST(Admissible, JoinedSetsHoldWhatEitherHoldsAndWhatLiesBetween) {
  auto const both = joined(joined(only(1.0F), only(-inf)), only(3.0F));
  EXPECT_EQ(both, (Admissible{.finite_possible = true, .lo = 1, .hi = 3, .may_be_neg_inf = true}));
  EXPECT_EQ(joined(only_nan(), only_nan()), only_nan());
}

// A number beside the middle between two of a 16-bit format: rounded to it at once, it goes to the
// nearer one; by way of binary32 it may be a tie.
TEST(Admissible, RoundedIntervalsHoldBothWaysOfRounding) {
  RandomValues random(9);
  int ties = 0;
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16}) {
    for (int round = 0; round < 20000; ++round) {
      float const below = rounded(std::abs(random.scaled(-10, 10)), format);
      float const above = value_of(static_cast<std::uint16_t>(bits_of(below, format) + 1), format);
      double const middle = 0.5 * below + 0.5 * above;
      double const side = random.below(2) == 0 ? -1 : 1;
      double const x = middle * (1 + side * 0x1p-40);
      auto const set = rounded_interval(x, x, format);
      float const at_once = side > 0 ? above : below;
      EXPECT_TRUE(set.contains(at_once)) << below;
      EXPECT_TRUE(set.contains(nearest(x, format))) << below;
      ties += nearest(x, format) != at_once ? 1 : 0;
    }
  }
  EXPECT_GT(ties, 1000);
}

TEST(Admissible, EndsBeyondTheLargestNumberAreInfinities) {
  auto const open = rounded_interval(1.0, 1e60, NumberFormat::fp32);
  EXPECT_TRUE(open.contains(inf));
  EXPECT_TRUE(open.contains(largest_finite(NumberFormat::fp32)));
  EXPECT_FALSE(open.contains(0.5F));
  auto const beyond = rounded_interval(70000.0, 80000.0, NumberFormat::fp16);
  EXPECT_EQ(beyond.contains(inf), true);
  EXPECT_FALSE(beyond.finite_possible);
  auto const below =
      rounded_interval(-std::numeric_limits<double>::infinity(), 0.0, NumberFormat::bf16);
  EXPECT_TRUE(below.contains(-inf));
  EXPECT_TRUE(below.contains(-largest_finite(NumberFormat::bf16)));
  EXPECT_FALSE(below.contains(1.0F));
}

}  // namespace
}  // namespace adamant::oracle
