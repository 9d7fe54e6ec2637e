#include "oracle/quantise/states.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

constexpr NumberFormat scaled_formats[] = {NumberFormat::fp16, NumberFormat::fp8};

TEST(ScaledStates, TheLargestFiniteMagnitudeIsBroughtToTheRange) {
  std::vector<float> const values = {1.0F, -7.0F, nan, inf};
  EXPECT_EQ(amax_of(values), 7.0F);
  EXPECT_EQ(scale_of(7.0F, NumberFormat::fp8), 0x1p-6F);
  EXPECT_EQ(scale_of(7.0F, NumberFormat::fp16), 7.0F / 32752.0F);
  EXPECT_EQ(stored_scaled(-7.0F, 0x1p-6F, NumberFormat::fp8), 0xfe);
  EXPECT_EQ(value_of_scaled(0xfe, 0x1p-6F, NumberFormat::fp8), -7.0F);
}

TEST(ScaledStates, NothingHasTheScaleOneAndLittleTheSmallest) {
  EXPECT_EQ(amax_of({}), 0.0F);
  EXPECT_EQ(amax_of(std::vector{0.0F, -0.0F, nan, -inf}), 0.0F);
  for (NumberFormat const format : scaled_formats) {
    EXPECT_EQ(scale_of(0.0F, format), 1.0F);
    EXPECT_EQ(scale_of(0x1p-149F, format), 0x1p-126F);
  }
}

TEST(ScaledStates, WhatIsNotFiniteStaysSoWhereItCan) {
  EXPECT_EQ(stored_scaled(inf, 0.5F, NumberFormat::fp16), 0x7c00);
  EXPECT_TRUE(std::isnan(
      value_of_scaled(stored_scaled(-inf, 0.5F, NumberFormat::fp8), 0.5F, NumberFormat::fp8)));
  EXPECT_EQ(stored_scaled(nan, 0.5F, NumberFormat::fp8), 0x7f);
  EXPECT_TRUE(std::isnan(value_of_scaled(0x7f, 0.5F, NumberFormat::fp8)));
  EXPECT_EQ(value_of_scaled(0x7c00, 0.5F, NumberFormat::fp16), inf);
}

// The largest number of a tensor never rounds beyond what its format holds, whatever it is.
TEST(ScaledStates, NothingOverflows) {
  for (std::uint32_t bits = 1; bits < 0x7f800000U; bits += 99'991)
    for (NumberFormat const format : scaled_formats) {
      auto const value = std::bit_cast<float>(bits);
      float const scale = scale_of(value, format);
      float const back = value_of_scaled(stored_scaled(value, scale, format), scale, format);
      ASSERT_TRUE(std::isfinite(back)) << value;
      float const near = value < 0x1p-110F ? value : back;  // subnormal scales lose bits
      ASSERT_NEAR(near / value, 1.0, 1e-3) << value;
    }
}

// Divided by the scale it would be 2050.
TEST(ScaledStates, AreMultipliedByTheRoundedReciprocal) {
  float const scale = 3.0F / 32752;
  std::uint16_t const stored = stored_scaled(0x1.80600ep-3F, scale, NumberFormat::fp16);
  EXPECT_EQ(value_of(stored, NumberFormat::fp16), 2048.0F);
  std::vector<float> values = {0x1.80600ep-3F};
  round_scaled(values, scale, NumberFormat::fp16);
  EXPECT_EQ(values[0], 2048.0F * scale);
}

// 448 / 7 = 64: halves of steps between 60 and 64 go to the even code.
TEST(ScaledStates, ManyAreRoundedAsOne) {
  std::vector<float> values = {7.0F, 62.0F / 64, 58.0F / 64, -0.0F, nan, -inf};
  round_scaled(values, scale_of(amax_of(values), NumberFormat::fp8), NumberFormat::fp8);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 3), (std::vector{7.0F, 1.0F, 56.0F / 64}));
  EXPECT_TRUE(std::signbit(values[3]));
  EXPECT_TRUE(std::isnan(values[4]) && std::isnan(values[5]));
}

TEST(ScaledStates, DistancesAreStepsOfWhatIsKept) {
  EXPECT_EQ(scaled_distance(7.0F, 6.5F, 0x1p-6F, NumberFormat::fp8), 1U);
  EXPECT_EQ(scaled_distance(0.5F, 0.5F + 0x1p-11F, 0.5F, NumberFormat::fp16), 1U);
  EXPECT_EQ(scaled_distance(nan, 7.0F, 0x1p-6F, NumberFormat::fp8), 1U);
}

TEST(ScaledStatesDeathTest, OtherFormatsHaveNoScale) {
  EXPECT_DEATH(scale_of(1.0F, NumberFormat::bf16), "format with a scale");
}

TEST(SplitWeights, AreJoinedBitForBit) {
  for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += 4099) {
    auto const weight = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    SplitWeight const parts = split(weight);
    if (std::isnan(weight)) {
      ASSERT_EQ(parts, (SplitWeight{.parameter = 0x7fff, .remainder = 0}));
      ASSERT_TRUE(std::isnan(joined(parts)));
      continue;
    }
    ASSERT_EQ(std::bit_cast<std::uint32_t>(joined(parts)), bits);
  }
}

TEST(SplitWeights, TiesGoAwayFromZero) {
  EXPECT_EQ(split(1.0F + 0x1p-8F), (SplitWeight{.parameter = 0x3f81, .remainder = 0x8000}));
  EXPECT_EQ(bits_of(1.0F + 0x1p-8F, NumberFormat::bf16), 0x3f80) << "where rounding goes to even";
  EXPECT_EQ(split(-1.0F), (SplitWeight{.parameter = 0xbf80, .remainder = 0}));
  EXPECT_EQ(split(std::numeric_limits<float>::max()),
            (SplitWeight{.parameter = 0x7f80, .remainder = 0xffff}))
      << "the parameter is infinite, the weight is not";
}

}  // namespace
}  // namespace adamant::oracle
