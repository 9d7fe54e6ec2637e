#include "oracle/interval/operations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/formats/formats.h"
#include "oracle/interval/admissible.h"
#include "oracle/testing/random_values.h"

namespace adamant::oracle {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

void expect_range(Range const& range, double lo, double hi) {
  EXPECT_EQ(range.lo, lo);
  EXPECT_EQ(range.hi, hi);
}

TEST(Operations, AreExactWhereBinary64Is) {
  expect_range(sum({1, 2}, {0x1p-40, 0x1p-30}), 1 + 0x1p-40, 2 + 0x1p-30);
  expect_range(difference({1, 2}, {0.5, 4}), -3, 1.5);
  expect_range(product({-2, 3}, {-5, 7}), -15, 21);
  expect_range(hull({1, 2}, {-1, 0}), -1, 2);
}

TEST(Operations, GoOutwardWhereItIsNot) {
  Range const inexact = sum({1, 1}, {0x1p-80, 0x1p-80});
  EXPECT_LT(inexact.lo, 1);
  EXPECT_GT(inexact.hi, 1);
  Range const square = product({1 + 0x1p-40, 1 + 0x1p-40}, {1 + 0x1p-40, 1 + 0x1p-40});
  EXPECT_LT(square.lo, 1 + 0x1p-39);
  EXPECT_GT(square.hi, 1 + 0x1p-39);
}

TEST(Operations, HaveNoEndWhereTheyOverflow) {
  double const huge = std::numeric_limits<double>::max();
  expect_range(sum({huge, huge}, {huge, huge}), -no_end, no_end);
  expect_range(product({0, 1}, {-no_end, no_end}), -no_end, no_end);
  float const largest = largest_finite(NumberFormat::bf16);
  expect_range(rounded_or_not({largest, largest}, NumberFormat::bf16), largest, largest);
  expect_range(rounded_or_not({0, 1.01 * largest}, NumberFormat::bf16), -no_end, no_end);
}

TEST(Operations, LeaveANumberOrWhatRoundingMakesOfIt) {
  expect_range(rounded_or_not({1.5, 1.5}, NumberFormat::bf16), 1.5, 1.5);
  expect_range(rounded_or_not({1.4970703125, 1.4970703125}, NumberFormat::bf16), 1.4970703125, 1.5);
  expect_range(rounded_or_not({1.5029296875, 1.5029296875}, NumberFormat::bf16), 1.5, 1.5029296875);
  expect_range(rounded_or_not({-1.4970703125, -1.494140625}, NumberFormat::bf16), -1.5, -1.4921875);
}

// Twice where that is by way of binary32, which may cross a middle that the number is beside.
TEST(Operations, HoldEveryWayOfRounding) {
  RandomValues random(3);
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16})
    for (int i = 0; i < 100000; ++i) {
      double const beside = i % 2 == 0 ? 1.0 + 0x1p-9 + 0x1p-40 * (random.below(5) - 2.0) : 1.0;
      double const x = static_cast<double>(random.scaled(-10, 10)) * beside;
      Range const range = rounded_or_not({x, x}, format);
      float const wide = static_cast<float>(x);
      for (double const way :
           {x, static_cast<double>(wide), static_cast<double>(rounded(wide, format))}) {
        EXPECT_LE(range.lo, way);
        EXPECT_GE(range.hi, way);
      }
    }
}

}  // namespace
}  // namespace adamant::oracle
