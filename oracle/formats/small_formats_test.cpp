#include "oracle/formats/small_formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "oracle/golden/small_formats.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

constexpr SmallFormat small_formats[] = {SmallFormat::e4m3, SmallFormat::e5m2, SmallFormat::e2m1};

unsigned codes(SmallFormat format) {
  return 1U << bits_of(format);
}

float value_at(unsigned code, SmallFormat format) {
  return value_of(static_cast<std::uint8_t>(code), format);
}

// OCP 8-bit Floating Point Specification 1.0, tables 1 and 2; Microscaling Formats 1.0, table 5.
TEST(SmallFormats, KnownCodesHaveTheirValues) {
  struct Row {
    SmallFormat format;
    unsigned code;
    float value;
  };
  constexpr Row rows[] = {{SmallFormat::e4m3, 0x00, 0.0F},     {SmallFormat::e4m3, 0x01, 0x1p-9F},
                          {SmallFormat::e4m3, 0x07, 0x7p-9F},  {SmallFormat::e4m3, 0x08, 0x1p-6F},
                          {SmallFormat::e4m3, 0x38, 1.0F},     {SmallFormat::e4m3, 0x7e, 448.0F},
                          {SmallFormat::e4m3, 0xfe, -448.0F},  {SmallFormat::e5m2, 0x01, 0x1p-16F},
                          {SmallFormat::e5m2, 0x03, 0x3p-16F}, {SmallFormat::e5m2, 0x04, 0x1p-14F},
                          {SmallFormat::e5m2, 0x3c, 1.0F},     {SmallFormat::e5m2, 0x7b, 57344.0F},
                          {SmallFormat::e5m2, 0x7c, inf},      {SmallFormat::e5m2, 0xfc, -inf},
                          {SmallFormat::e2m1, 0x1, 0.5F},      {SmallFormat::e2m1, 0x2, 1.0F},
                          {SmallFormat::e2m1, 0x3, 1.5F},      {SmallFormat::e2m1, 0x7, 6.0F},
                          {SmallFormat::e2m1, 0xf, -6.0F}};
  for (Row const& row : rows) EXPECT_EQ(value_at(row.code, row.format), row.value) << row.code;
  for (unsigned const code : {0x7fU, 0xffU})
    EXPECT_TRUE(std::isnan(value_at(code, SmallFormat::e4m3)));
  for (unsigned const code : {0x7dU, 0x7eU, 0x7fU, 0xfdU})
    EXPECT_TRUE(std::isnan(value_at(code, SmallFormat::e5m2)));
  EXPECT_TRUE(std::signbit(value_at(0x8, SmallFormat::e2m1)));
}

TEST(SmallFormats, EveryCodeSurvivesTheWayThroughFp32) {
  for (SmallFormat const format : small_formats)
    for (unsigned code = 0; code < codes(format); ++code) {
      float const value = value_at(code, format);
      unsigned const expected = std::isnan(value) ? 0x7f : code;
      ASSERT_EQ(code_of(value, format, Beyond::is_no_number), expected)
          << name_of(format) << ' ' << code;
    }
}

TEST(SmallFormats, WhatIsBeyondSaturatesOrIsNoNumber) {
  float const largest = std::numeric_limits<float>::max();
  for (float const x : {largest, inf, 0x1p16F}) {
    EXPECT_EQ(code_of(x, SmallFormat::e4m3), 0x7e);
    EXPECT_EQ(code_of(-x, SmallFormat::e4m3), 0xfe);
    EXPECT_EQ(code_of(x, SmallFormat::e5m2), 0x7b);
    EXPECT_EQ(code_of(-x, SmallFormat::e2m1), 0xf);
    EXPECT_EQ(code_of(x, SmallFormat::e4m3, Beyond::is_no_number), 0x7f);
    EXPECT_EQ(code_of(-x, SmallFormat::e5m2, Beyond::is_no_number), 0xfc);
    EXPECT_EQ(code_of(x, SmallFormat::e2m1, Beyond::is_no_number), 0x7);
  }
  // A tie between the largest number and the next that would be goes to the even one, the largest.
  EXPECT_EQ(code_of(464.0F, SmallFormat::e4m3, Beyond::is_no_number), 0x7e);
  EXPECT_EQ(code_of(61440.0F, SmallFormat::e5m2, Beyond::is_no_number), 0x7c);
}

TEST(SmallFormats, NanLosesItsSign) {
  for (std::uint32_t const bits : {0x7f800001U, 0xffc00000U, 0xffffffffU}) {
    EXPECT_EQ(code_of(std::bit_cast<float>(bits), SmallFormat::e4m3), 0x7f);
    EXPECT_EQ(code_of(std::bit_cast<float>(bits), SmallFormat::e5m2), 0x7f);
    EXPECT_EQ(code_of(std::bit_cast<float>(bits), SmallFormat::e2m1), 0x7) << "it has none: +6";
  }
}

/// `thresholds[c - 1]` is the smallest positive number whose code is c.
void expect_thresholds(SmallFormat format, std::span<std::uint32_t const> thresholds) {
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    float const at = std::bit_cast<float>(thresholds[i]);
    float const below = std::bit_cast<float>(thresholds[i] - 1);
    auto const sign = codes(format) / 2;
    ASSERT_EQ(code_of(at, format, Beyond::is_no_number), i + 1) << name_of(format) << ' ' << at;
    ASSERT_EQ(code_of(below, format, Beyond::is_no_number), i) << name_of(format) << ' ' << below;
    ASSERT_EQ(code_of(-at, format, Beyond::is_no_number), sign + i + 1);
  }
}

TEST(SmallFormats, CodesChangeWhereThoseOfMlDtypesDo) {
  expect_thresholds(SmallFormat::e4m3, golden::e4m3_thresholds);
  expect_thresholds(SmallFormat::e5m2, golden::e5m2_thresholds);
  expect_thresholds(SmallFormat::e2m1, golden::e2m1_thresholds);
}

/// Codes rise with numbers over all positive ones, a number in `step`. With the thresholds above,
/// that says what becomes of each of them.
void expect_rising(std::uint64_t step) {
  for (SmallFormat const format : small_formats) {
    unsigned last = 0;
    for (std::uint64_t bits = 0; bits <= 0x7f800000U; bits += step) {
      float const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      unsigned const code = code_of(x, format, Beyond::is_no_number);
      ASSERT_GE(code, last) << name_of(format) << ' ' << x;
      ASSERT_EQ(code_of(-x, format, Beyond::is_no_number), code + codes(format) / 2) << x;
      last = code;
    }
  }
}

TEST(SmallFormats, CodesRiseWithNumbers) {
  expect_rising(1009);
}

TEST(E8m0, IsTheSmallestPowerOfTwoThatIsNotBelow) {
  EXPECT_EQ(e8m0_not_below(1.0F), 127);
  EXPECT_EQ(e8m0_not_below(1.5F), 128);
  EXPECT_EQ(e8m0_not_below(3.0F), 129);
  EXPECT_EQ(e8m0_not_below(std::nextafter(1.0F, 2.0F)), 128);
  EXPECT_EQ(e8m0_not_below(std::nextafter(1.0F, 0.0F)), 127);
  EXPECT_EQ(e8m0_not_below(0.0F), 0);
  EXPECT_EQ(e8m0_not_below(0x1p-149F), 0);
  EXPECT_EQ(e8m0_not_below(0x1p-127F), 0);
  EXPECT_EQ(e8m0_not_below(std::nextafter(0x1p-127F, 1.0F)), 1);
  EXPECT_EQ(e8m0_not_below(0x1p-126F), 1);
  EXPECT_EQ(e8m0_not_below(0x1p127F), 254);
  EXPECT_EQ(e8m0_not_below(std::numeric_limits<float>::max()), 254);
  EXPECT_EQ(e8m0_not_below(inf), 254);
  EXPECT_EQ(e8m0_not_below(std::numeric_limits<float>::quiet_NaN()), 255);
}

TEST(E8m0, EveryPowerOfTwoSurvives) {
  for (unsigned code = 0; code < 255; ++code) {
    float const value = value_of_e8m0(static_cast<std::uint8_t>(code));
    EXPECT_EQ(value, std::ldexp(1.0F, static_cast<int>(code) - 127));
    EXPECT_EQ(e8m0_not_below(value), code);
  }
  EXPECT_TRUE(std::isnan(value_of_e8m0(255)));
}

}  // namespace
}  // namespace adamant::oracle
