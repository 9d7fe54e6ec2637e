#include "oracle/formats/formats.h"
#include "oracle/testing/special_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace adamant::oracle {
namespace {

constexpr NumberFormat short_formats[] = {NumberFormat::bf16, NumberFormat::fp16};

float value_at(unsigned bits, NumberFormat format) {
  return value_of(static_cast<std::uint16_t>(bits), format);
}

// IEEE 754-2019, binary16, and the same construction with binary32's exponents.
TEST(Formats, KnownNumbersHaveTheirBits) {
  struct Row {
    float value;
    unsigned bf16;
    unsigned fp16;
  };
  constexpr Row rows[] = {
      {0.0F, 0x0000, 0x0000},      {-0.0F, 0x8000, 0x8000},     {1.0F, 0x3f80, 0x3c00},
      {-2.0F, 0xc000, 0xc000},     {0.1F, 0x3dcd, 0x2e66},      {0x1p-14F, 0x3880, 0x0400},
      {0x1p-24F, 0x3380, 0x0001},  {0x1p-25F, 0x3300, 0x0000},  {65504.0F, 0x4780, 0x7bff},
      {65519.0F, 0x4780, 0x7bff},  {65520.0F, 0x4780, 0x7c00},  {0x1p127F, 0x7f00, 0x7c00},
      {0x1p-133F, 0x0001, 0x0000}, {0x1p-134F, 0x0000, 0x0000}, {-0x1.8p-134F, 0x8001, 0x8000}};
  for (Row const& row : rows) {
    EXPECT_EQ(bits_of(row.value, NumberFormat::bf16), row.bf16) << row.value;
    EXPECT_EQ(bits_of(row.value, NumberFormat::fp16), row.fp16) << row.value;
  }
}

TEST(Formats, TiesGoToTheEvenNeighbour) {
  EXPECT_EQ(bits_of(1.0F + 0x1p-8F, NumberFormat::bf16), 0x3f80);
  EXPECT_EQ(bits_of(1.0F + 0x3p-8F, NumberFormat::bf16), 0x3f82);
  EXPECT_EQ(bits_of(1.0F + 0x1p-11F, NumberFormat::fp16), 0x3c00);
  EXPECT_EQ(bits_of(1.0F + 0x3p-11F, NumberFormat::fp16), 0x3c02);
  EXPECT_EQ(bits_of(0x3p-25F, NumberFormat::fp16), 0x0002);
}

TEST(Formats, EveryNanBecomesOneAndInfinitiesStay) {
  for (std::uint32_t const bits : {0x7f800001U, 0xffc00000U, 0x7fffffffU})
    for (NumberFormat const format : short_formats) {
      EXPECT_EQ(bits_of(std::bit_cast<float>(bits), format), 0x7fff);
      EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(bits), format)));
    }
  for (NumberFormat const format : short_formats) EXPECT_EQ(rounded(-inf, format), -inf);
}

TEST(Formats, StoredNumbersSurviveTheWayThroughFp32) {
  for (NumberFormat const format : short_formats)
    for (unsigned bits = 0; bits < 1U << 16; ++bits) {
      float const value = value_at(bits, format);
      unsigned const expected = std::isnan(value) ? 0x7fff : bits;
      ASSERT_EQ(bits_of(value, format), expected) << name_of(format) << ' ' << bits;
    }
}

// What rounding to nearest means, without a word of how it is done: no stored number lies closer.
TEST(Formats, NoStoredNumberIsCloserThanTheRoundedOne) {
  for (NumberFormat const format : short_formats)
    for (unsigned bits = 1; value_at(bits + 1, format) < largest_finite(format); bits += 7) {
      auto const below = static_cast<double>(value_at(bits, format));
      auto const above = static_cast<double>(value_at(bits + 1, format));
      for (double const part : {0.25, 0.499, 0.501, 0.75}) {
        auto const x = static_cast<float>(below + part * (above - below));
        auto const result = static_cast<double>(rounded(x, format));
        double const nearest = x - below < above - x ? below : above;
        if (x - below == above - x) continue;  // a tie in fp32
        ASSERT_EQ(result, nearest) << name_of(format) << ' ' << std::hexfloat << x;
      }
    }
}

TEST(Formats, LimitsAreTheLargestNumbers) {
  EXPECT_EQ(largest_finite(NumberFormat::fp32), std::numeric_limits<float>::max());
  EXPECT_EQ(largest_finite(NumberFormat::fp16), 65504.0F);
  EXPECT_EQ(largest_finite(NumberFormat::bf16), 0x1.fep127F);
  EXPECT_EQ(significant_bits(NumberFormat::fp32), 24);
  EXPECT_EQ(significant_bits(NumberFormat::bf16), 8);
  EXPECT_EQ(significant_bits(NumberFormat::fp16), 11);
}

TEST(Formats, BlocksAreRoundedElementByElement) {
  std::vector<float> const values = {0.1F, -3.3F, 1e-7F, 7e4F};
  for (NumberFormat const format : short_formats) {
    std::vector<std::uint16_t> bits(values.size());
    encode(format, values, bits);
    auto in_place = values;
    round_to(format, in_place);
    std::vector<float> decoded(values.size());
    decode(format, std::as_bytes(std::span(bits)), decoded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(bits[i], bits_of(values[i], format));
      EXPECT_EQ(in_place[i], rounded(values[i], format));
      EXPECT_EQ(decoded[i], in_place[i]);
    }
  }
}

// Patterns a prime apart, and everything around the ends of the normal numbers.
TEST(Formats, RoundingInPlaceIsTheWayThroughStoredBits) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += 4099)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (NumberFormat const format : short_formats)
    for (float const end : {0x1p-14F, 0x1p-126F, largest_finite(format), 0.0F})
      for (int steps = -200'000; steps <= 200'000; ++steps)
        values.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(end) +
                                              static_cast<std::uint32_t>(steps)));
  for (NumberFormat const format : short_formats) {
    auto in_place = values;
    round_to(format, in_place);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float const expected = value_of(bits_of(values[i], format), format);
      ASSERT_EQ(bits_of(in_place[i], format), bits_of(expected, format)) << values[i];
      ASSERT_TRUE(std::isnan(expected) || in_place[i] == expected) << values[i];
    }
  }
}

TEST(Formats, NeighboursAreOneApartInTheirOwnFormat) {
  EXPECT_EQ(ulp_distance(1.0F, 1.0F + 0x1p-7F, NumberFormat::bf16), 1U);
  EXPECT_EQ(ulp_distance(1.0F, 1.0F + 0x1p-10F, NumberFormat::fp16), 1U);
  EXPECT_EQ(ulp_distance(-0.0F, 0.0F, NumberFormat::fp16), 1U);
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 2.0F), NumberFormat::fp32), 1U);
}

// Codes of 8 bits in ascending order, and NaN above all of them.
TEST(Formats, EightBitsAreReadAndCountedToo) {
  std::uint8_t const codes[] = {0xfe, 0x81, 0x80, 0x00, 0x01, 0x38, 0x7e, 0x7f, 0xff};
  std::vector<float> values(std::size(codes));
  decode(NumberFormat::fp8, std::as_bytes(std::span(codes)), values);
  EXPECT_EQ(values[0], -448.0F);
  EXPECT_EQ(values[1], -0x1p-9F);
  EXPECT_TRUE(std::signbit(values[2]));
  EXPECT_EQ(values[5], 1.0F);
  EXPECT_TRUE(std::isnan(values[7]) && std::isnan(values[8]));
  constexpr std::uint64_t steps[] = {125, 1, 1, 1, 55, 70, 1, 0};
  for (std::size_t i = 0; i < std::size(steps); ++i)
    EXPECT_EQ(ulp_distance(values[i], values[i + 1], NumberFormat::fp8), steps[i]) << i;
}

TEST(FormatsDeathTest, NothingIsRoundedToAFormatThatNeedsMoreThanTheNumber) {
  std::vector<float> values = {1.0F};
  EXPECT_DEATH(round_to(NumberFormat::fp8, values), "16 bits");
  EXPECT_DEATH(rounded(1.0F, NumberFormat::remainder), "16 bits");
}

TEST(Formats, MainWeightsAndCastCopiesExistWhereTheyAreAskedFor) {
  Formats formats{.parameter = NumberFormat::bf16};
  EXPECT_EQ(stored_format(formats, TensorKind::main), std::nullopt);
  EXPECT_EQ(stored_format(formats, TensorKind::cast_gradient), std::nullopt);
  formats.decoupled_gradient = false;
  EXPECT_EQ(stored_format(formats, TensorKind::cast_gradient), NumberFormat::bf16);
  formats.main = NumberFormat::fp32;
  EXPECT_EQ(stored_format(formats, TensorKind::main), NumberFormat::fp32);
  EXPECT_EQ(stored_format(formats, TensorKind::cast_gradient), std::nullopt);
  formats.gradient = NumberFormat::bf16;
  EXPECT_EQ(stored_format(formats, TensorKind::cast_gradient), NumberFormat::fp32);
  EXPECT_EQ(stored_format(formats, TensorKind::parameter), NumberFormat::bf16);
  formats.recipe = Recipe::mxfp8;
  EXPECT_EQ(stored_format(formats, TensorKind::parameter), NumberFormat::fp32);
}

}  // namespace
}  // namespace adamant::oracle
