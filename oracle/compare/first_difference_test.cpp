#include "oracle/compare/first_difference.h"
#include "oracle/testing/special_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace adamant::oracle {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

TEST(FirstDifference, EqualBitsAreEqual) {
  std::vector const values{0.0F, -0.0F, 1.0F, inf, nan_value, 0x1p-149F};
  EXPECT_FALSE(first_difference(values, values));
  EXPECT_FALSE(first_difference({}, {}));
}

TEST(FirstDifference, AnyNanEqualsAnyNan) {
  std::vector const a{nan_value, 1.0F};
  std::vector const b{std::bit_cast<float>(0xffc12345U), 1.0F};
  EXPECT_FALSE(first_difference(a, b));
}

TEST(FirstDifference, NanDiffersFromNumbers) {
  auto const difference = first_difference(std::vector{nan_value}, std::vector{inf});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->ulps, 1U);
}

TEST(FirstDifference, SignOfZeroCounts) {
  auto const difference = first_difference(std::vector{0.0F}, std::vector{-0.0F});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->ulps, 1U);
}

TEST(FirstDifference, NamesTheFirstOfSeveral) {
  std::vector const expected{1.0F, 2.0F, 3.0F, 4.0F};
  auto const difference =
      first_difference(expected, std::vector{1.0F, 2.0F, std::nextafter(3.0F, 4.0F), 9.0F});
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->index, 2);
  EXPECT_EQ(difference->expected, 3.0F);
  EXPECT_EQ(difference->actual, std::nextafter(3.0F, 4.0F));
  EXPECT_EQ(difference->ulps, 1U);
}

// NaNs of other payloads before it make the fast path look closer, and it must then go on.
TEST(FirstDifference, IsFoundAnywhereInALargeTensor) {
  std::vector<float> const expected(100'000, nan_value);
  for (std::size_t at : {0, 1, 16383, 16384, 16385, 65536, 99999}) {
    std::vector<float> actual(100'000, std::bit_cast<float>(0x7fc00001U));
    actual[at] = 1.0F;
    auto const difference = first_difference(expected, actual);
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->index, static_cast<std::int64_t>(at));
  }
}

TEST(UlpDistance, CountsNeighbours) {
  EXPECT_EQ(ulp_distance(1.0F, 1.0F), 0U);
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 0.0F)), 1U);
  EXPECT_EQ(ulp_distance(-0x1p-149F, -0.0F), 1U);
  EXPECT_EQ(ulp_distance(-0x1p-149F, 0x1p-149F), 3U);
  EXPECT_EQ(ulp_distance(1.0F, 2.0F), 1U << 23);
}

TEST(UlpDistance, IsSymmetricAndSpansTheWholeLine) {
  EXPECT_EQ(ulp_distance(-inf, inf), 2ULL * 0x7f800000U + 1);
  EXPECT_EQ(ulp_distance(inf, -inf), ulp_distance(-inf, inf));
  EXPECT_EQ(ulp_distance(nan_value, -nan_value), 0U);
}

}  // namespace
}  // namespace adamant::oracle
