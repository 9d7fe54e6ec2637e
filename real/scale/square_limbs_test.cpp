#include "real/scale/square_limbs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace adamant::real {
namespace {

using Words = std::array<Word, word_count>;

void add(Words& words, float x) {
  SquareParts const square = square_parts(x);
  for (int i = 0; i < 3; ++i) words[static_cast<std::size_t>(square.limb + i)] += square.parts[i];
}

double sum_of(std::vector<float> const& values) {
  Words words = {};
  for (float const value : values) add(words, value);
  carry(words.data());
  return rounded(words.data());
}

double square(float x) {
  return static_cast<double>(x) * static_cast<double>(x);  // 48 bits: exact
}

constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = std::numeric_limits<float>::denorm_min();

TEST(SquareLimbs, HoldOneSquareExactly) {
  for (int exponent = -149; exponent <= 127; ++exponent)
    for (float const fraction : {1.0F, 1.5F, 0x1.fffffep0F, 0x1.234568p0F}) {
      float const x = std::ldexp(fraction, exponent);  // subnormal ones are rounded here
      EXPECT_EQ(sum_of({x}), square(x)) << x;
      EXPECT_EQ(sum_of({-x}), square(x)) << x;
    }
  EXPECT_EQ(sum_of({}), 0.0);
  EXPECT_EQ(sum_of({0.0F, -0.0F}), 0.0);
}

TEST(SquareLimbs, HoldTheSmallestBesideTheLargest) {
  EXPECT_EQ(sum_of({largest, smallest}), square(largest));
  EXPECT_EQ(sum_of({smallest, smallest}), 0x1p-297);
}

TEST(SquareLimbs, RoundOnceToNearestEven) {
  std::vector<float> tie = {1.0F, 0x1p-27F, 0x1p-27F};  // 1 + 2^-53
  EXPECT_EQ(sum_of(tie), 1.0);
  tie.push_back(smallest);
  EXPECT_EQ(sum_of(tie), 0x1.0000000000001p0);
  // 1 + 2^-52 + 2^-53 goes up to the even neighbour.
  EXPECT_EQ(sum_of({1.0F, 0x1p-26F, 0x1p-27F, 0x1p-27F}), 0x1.0000000000002p0);
}

TEST(SquareLimbs, CarryThroughAllLimbs) {
  Words words = {};
  for (int i = 0; i < limb_count; ++i) words[static_cast<std::size_t>(i)] = limb_mask;
  words[0] += 1;
  words[limb_count - 1] = 0;
  carry(words.data());
  EXPECT_EQ(words[limb_count - 1], 1U);
  EXPECT_EQ(rounded(words.data()), std::ldexp(1.0, (limb_count - 1) * 32 - 298));
}

TEST(SquareLimbs, TakeManyLargeSquaresBeforeACarry) {
  Words words = {};
  Words once = {};
  add(once, largest);
  constexpr Word many = Word{1} << 31;
  for (int i = 0; i < word_count; ++i)
    words[static_cast<std::size_t>(i)] = once[static_cast<std::size_t>(i)] * many;
  carry(words.data());
  EXPECT_EQ(rounded(words.data()), std::ldexp(square(largest), 31));
}

TEST(SquareLimbs, RoundAWideHighestLimb) {
  Words words = {};
  words[limb_count - 1] = ~Word{0};
  EXPECT_EQ(rounded(words.data()), std::ldexp(1.0, 64 + (limb_count - 1) * 32 - 298));
}

}  // namespace
}  // namespace adamant::real
