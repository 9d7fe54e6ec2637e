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

TEST(ScaledStates, TheLargestFiniteMagnitudeIsBroughtToTheRange) {
  std::vector<float> const values = {1.0F, -7.0F, nan, inf};
  EXPECT_EQ(scale_of(values, ScaledFormat::fp8), 0x1p-6F);
  EXPECT_EQ(scale_of(values, ScaledFormat::fp16), 7.0F / 32752.0F);
  EXPECT_EQ(stored_scaled(-7.0F, 0x1p-6F, ScaledFormat::fp8), 0xfe);
  EXPECT_EQ(value_of_scaled(0xfe, 0x1p-6F, ScaledFormat::fp8), -7.0F);
}

TEST(ScaledStates, NothingHasTheScaleOneAndLittleTheSmallest) {
  for (ScaledFormat const format : {ScaledFormat::fp16, ScaledFormat::fp8}) {
    EXPECT_EQ(scale_of({}, format), 1.0F);
    EXPECT_EQ(scale_of(std::vector{0.0F, -0.0F, nan, -inf}, format), 1.0F);
    EXPECT_EQ(scale_of(std::vector{0x1p-149F}, format), 0x1p-126F);
  }
}

TEST(ScaledStates, WhatIsNotFiniteStaysSoWhereItCan) {
  EXPECT_EQ(stored_scaled(inf, 0.5F, ScaledFormat::fp16), 0x7c00);
  EXPECT_EQ(stored_scaled(-inf, 0.5F, ScaledFormat::fp8), 0x7f);
  EXPECT_EQ(stored_scaled(nan, 0.5F, ScaledFormat::fp8), 0x7f);
  EXPECT_TRUE(std::isnan(value_of_scaled(0x7f, 0.5F, ScaledFormat::fp8)));
  EXPECT_EQ(value_of_scaled(0x7c00, 0.5F, ScaledFormat::fp16), inf);
}

// The largest number of a tensor never rounds beyond what its format holds, whatever it is.
TEST(ScaledStates, NothingOverflows) {
  for (std::uint32_t bits = 1; bits < 0x7f800000U; bits += 99'991)
    for (ScaledFormat const format : {ScaledFormat::fp16, ScaledFormat::fp8}) {
      std::vector<float> const values = {std::bit_cast<float>(bits)};
      float const scale = scale_of(values, format);
      float const back = value_of_scaled(stored_scaled(values[0], scale, format), scale, format);
      ASSERT_TRUE(std::isfinite(back)) << values[0];
      float const near = values[0] < 0x1p-110F ? values[0] : back;  // subnormal scales lose bits
      ASSERT_NEAR(near / values[0], 1.0, 1e-3) << values[0];
    }
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
