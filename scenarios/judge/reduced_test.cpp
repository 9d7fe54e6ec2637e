#include "scenarios/judge/reduced.h"

#include <gtest/gtest.h>

#include <limits>

namespace adamant::scenarios {
namespace {

oracle::Admissible of(std::vector<float> const& inputs, NumberFormat format, int divisor,
                      bool exact = false) {
  Unreduced unreduced{.inputs = {}, .format = format, .divisor = divisor, .exact = exact};
  for (float const x : inputs) unreduced.inputs.push_back({x});
  return reduced_bounds(unreduced).front();
}

TEST(Reduced, ExactSumsLeaveOneValueWhateverTheDivisor) {
  EXPECT_EQ(of({1.5F, 0.25F, 0.0F}, NumberFormat::fp32, 7, true), oracle::only(1.75F / 7.0F));
  auto const overflowed =
      of({1.5F, std::numeric_limits<float>::infinity()}, NumberFormat::fp32, 2, true);
  EXPECT_TRUE(overflowed.contains(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(overflowed.contains(1.5F));
}

TEST(Reduced, OthersLeaveWhatAnyOrderGives) {
  auto const bound = of({1.0F, 0x1p-24F, 0x1p-24F}, NumberFormat::fp32, 1);
  EXPECT_TRUE(bound.contains(1.0F));
  EXPECT_TRUE(bound.contains(1.0F + 0x1p-23F));
  EXPECT_FALSE(bound.contains(1.0F + 0x1p-21F));
}

// (x / 2 + y / 2): a half that is subnormal may round the other way, and no sum overflows.
TEST(Reduced, Fp16MayBeDividedBeforeItIsSummed) {
  auto const small = of({0x1p-13F + 0x1p-23F, 0x1p-14F}, NumberFormat::fp16, 2);
  EXPECT_TRUE(small.contains(0x1.8p-14F));
  EXPECT_FALSE(small.contains(0x1.9p-14F));
  auto const large = of({60000.0F, 50000.0F}, NumberFormat::fp16, 2);
  EXPECT_TRUE(large.contains(55008.0F));
  EXPECT_TRUE(large.contains(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(large.contains(27504.0F));
  EXPECT_FALSE(of({2.0F, 1.0F}, NumberFormat::fp16, 2).contains(1.501F));
}

// Half of the second is rounded to -0x1.a68p-15, and so the sum of halves to -0x1.2d0p-11 instead
// of -0x1.2d2p-11 to -0x1.2d4p-11: divided by 1.5, that is more than a step of the mean.
TEST(Reduced, WhatFp16LosesMayMoveTheSumByAStep) {
  auto const mean = of({-0x1.12cp-10F, -0x1.a64p-14F}, NumberFormat::fp16, 3);
  EXPECT_TRUE(mean.contains(-0x1.914p-12F));
  EXPECT_TRUE(mean.contains(-0x1.91cp-12F));
  EXPECT_FALSE(mean.contains(-0x1.90cp-12F));
  EXPECT_FALSE(mean.contains(-0x1.92cp-12F));
}

// ((a + b) / 2 + (c + d) / 2) / 2
TEST(Reduced, ReplicasMayBeAveragedBeforeTheyOverflow) {
  for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16}) {
    auto const bound = of({0x1.8p127F, 0x1p126F, 0x1.8p127F, 0x1p126F}, format, 4);
    EXPECT_TRUE(bound.contains(0x1p127F));
    EXPECT_TRUE(bound.contains(std::numeric_limits<float>::infinity()));
    EXPECT_FALSE(bound.contains(0x1p126F));
  }
}

}  // namespace
}  // namespace adamant::scenarios
