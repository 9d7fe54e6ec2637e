#include "oracle/scale/exact_norm.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

/// A natural number of up to 704 bits, in units of 2^-298: what the square of the smallest
/// subnormal number is. Written for this test, bit by bit.
class BigNatural {
 public:
  void add_square(float x) {
    int exponent = 0;
    auto const significand =
        static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 24));
    // x = significand 2^(exponent - 24), of a subnormal number with zeros at the end
    int const place = 2 * (exponent - 24) + 298;
    std::uint64_t const square = significand * significand;
    for (int bit = 0; bit < 64; ++bit)
      if ((square >> bit & 1U) != 0) add_bit(place + bit);
  }

  double rounded() const {
    int const top = highest_bit();
    if (top < 0) return 0;
    std::uint64_t kept = 0;
    for (int bit = top; bit > top - 53; --bit) kept = kept * 2 + (at(bit) ? 1U : 0U);
    bool const half = at(top - 53);
    bool below = false;
    for (int bit = top - 54; bit >= 0; --bit) below = below || at(bit);
    if (half && (below || kept % 2 == 1)) ++kept;
    return std::ldexp(static_cast<double>(kept), top - 52 - 298);
  }

 private:
  bool at(int bit) const {
    if (bit < 0) return false;
    return (words_[static_cast<std::size_t>(bit / 64)] >> (bit % 64) & 1U) != 0;
  }
  void add_bit(int bit) {
    ASSERT_GE(bit, 0);
    auto word = static_cast<std::size_t>(bit / 64);
    std::uint64_t carry = std::uint64_t{1} << (bit % 64);
    for (; carry != 0; ++word) {
      words_[word] += carry;
      carry = words_[word] < carry ? 1 : 0;
    }
  }
  int highest_bit() const {
    for (int bit = 703; bit >= 0; --bit)
      if (at(bit)) return bit;
    return -1;
  }

  std::array<std::uint64_t, 11> words_ = {};
};

double sum_of(std::vector<float> const& values) {
  SquareSum sum;
  sum.add(values);
  return sum.rounded();
}

double by_integers(std::vector<float> const& values) {
  BigNatural sum;
  for (float const value : values)
    if (value != 0.0F) sum.add_square(value);
  return sum.rounded();
}

float norm(std::vector<float> const& values) {
  SquareSum sum;
  sum.add(values);
  return norm_of(sum);
}

constexpr float fp32_largest = std::numeric_limits<float>::max();
constexpr float fp32_smallest = std::numeric_limits<float>::denorm_min();

TEST(ExactNorm, OfThreeAndFourIsFive) {
  EXPECT_EQ(norm({3.0F, -4.0F}), 5.0F);
  EXPECT_EQ(norm({}), 0.0F);
  EXPECT_EQ(norm({0.0F, -0.0F}), 0.0F);
}

TEST(ExactNorm, HoldsTheSmallestBesideTheLargest) {
  // 2^-298 is far below an ulp of the large square, and breaks no tie there.
  EXPECT_EQ(sum_of({fp32_largest, fp32_smallest}),
            static_cast<double>(fp32_largest) * static_cast<double>(fp32_largest));
  EXPECT_EQ(sum_of({fp32_smallest}), 0x1p-298);
  EXPECT_EQ(norm({fp32_smallest}), fp32_smallest);
  EXPECT_EQ(norm({fp32_largest}), fp32_largest);
  EXPECT_EQ(norm({fp32_largest, fp32_largest}), inf);  // 1.41 times the largest number
}

// 1 + 2^-53 lies half way between two doubles and goes to the even one, unless anything is added.
TEST(ExactNorm, BreaksATieByWhatLiesFarBelow) {
  float const half_ulp = 0x1.6a09e6p-27F;  // its square is a little below 2^-53
  std::vector<float> tie = {1.0F, 0x1p-27F, 0x1p-27F};
  EXPECT_EQ(sum_of(tie), 1.0);
  tie.push_back(fp32_smallest);
  EXPECT_EQ(sum_of(tie), 0x1.0000000000001p0);
  EXPECT_EQ(sum_of({1.0F, half_ulp}), 1.0);
}

TEST(ExactNorm, CarriesNaNsAndInfinitiesBesideTheSum) {
  EXPECT_EQ(norm({1.0F, inf}), inf);
  EXPECT_EQ(norm({-inf, inf}), inf);
  EXPECT_TRUE(std::isnan(norm({1.0F, nan, inf})));
  SquareSum sum;
  sum.add(std::vector{2.0F});
  SquareSum other;
  other.add(std::vector{nan});
  sum.add(other);
  EXPECT_TRUE(std::isnan(sum.rounded()));
}

TEST(ExactNorm, EqualsIntegersOfSevenHundredBits) {
  RandomValues random(41);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> values;
    std::uint64_t const count = random.below(40);
    bool const any = random.below(2) == 0;
    for (std::uint64_t i = 0; i < count; ++i)
      values.push_back(any ? random.finite() : random.scaled(-30, 10));
    EXPECT_EQ(sum_of(values), by_integers(values)) << "round " << round;
  }
}

TEST(ExactNorm, DoesNotDependOnOrderOrParts) {
  RandomValues random(42);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(random.finite());
  double const forwards = sum_of(values);
  EXPECT_EQ(sum_of({values.rbegin(), values.rend()}), forwards);
  for (std::size_t const cut : {0U, 1U, 17U, 500U, 1000U}) {
    SquareSum first, second;
    first.add(std::span(values).first(cut));
    second.add(std::span(values).subspan(cut));
    second.add(first);
    EXPECT_EQ(second.rounded(), forwards) << "cut " << cut;
  }
}

// Made with Python 3.11 on 2026-11-21:
//   f32 = lambda x: struct.unpack('f', struct.pack('f', x))[0]
//   math.fsum(f32(x) ** 2 for x in (0.1, 1e-20, 7.7e18, 3.0, -2.5e-41)).hex()
TEST(ExactNorm, EqualsPythonsExactSum) {
  EXPECT_EQ(sum_of({0.1F, 1e-20F, 7.7e18F, 3.0F, -2.5e-41F}), 0x1.64d6b42cd6c80p+125);
}

TEST(ClipCoefficient, ScalesDownAndNeverUp) {
  EXPECT_EQ(clip_coefficient(1.0F, 0.5F), 1.0F);
  EXPECT_EQ(clip_coefficient(1.0F, 0.0F), 1.0F);
  EXPECT_EQ(clip_coefficient(1.0F, 4.0F), 1.0F / (4.0F + 1e-6F));
  EXPECT_LT(clip_coefficient(1.0F, 1.0F), 1.0F);  // because of the 1e-6
  EXPECT_EQ(clip_coefficient(1e-9F, 0.0F), 1e-9F / 1e-6F);
}

TEST(ClipCoefficient, OfAnInfiniteNormIsZeroAndOfNaNIsNaN) {
  EXPECT_EQ(clip_coefficient(1.0F, inf), 0.0F);
  EXPECT_TRUE(std::isnan(clip_coefficient(1.0F, nan)));
}

}  // namespace
}  // namespace adamant::oracle
