#include "oracle/reduce/sum_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/testing/random_values.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {

void PrintTo(Admissible const& a, std::ostream* out) {
  if (a.finite_possible) *out << '[' << a.lo << ", " << a.hi << "] ";
  *out << (a.may_be_nan ? "nan " : "") << (a.may_be_pos_inf ? "+inf " : "")
       << (a.may_be_neg_inf ? "-inf" : "");
}

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();

float canonical(float x) {
  return std::isnan(x) ? nan_value : x;
}

using Bits = std::set<std::uint32_t>;

/// What every tree of additions over every order of the inputs gives: for each subset of them, what
/// any two of its complementary parts can give together.
std::vector<float> every_sum(std::vector<float> const& inputs,
                             NumberFormat format = NumberFormat::fp32) {
  std::size_t const subsets = std::size_t{1} << inputs.size();
  std::vector<Bits> reachable(subsets);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    reachable[std::size_t{1} << i].insert(std::bit_cast<std::uint32_t>(canonical(inputs[i])));
  for (std::size_t set = 1; set < subsets; ++set)
    for (std::size_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set)
      for (auto const a : reachable[part])
        for (auto const b : reachable[set ^ part])
          reachable[set].insert(std::bit_cast<std::uint32_t>(
              canonical(rounded(std::bit_cast<float>(a) + std::bit_cast<float>(b), format))));
  std::vector<float> sums;
  for (auto const bits : reachable.back()) sums.push_back(std::bit_cast<float>(bits));
  return sums;
}

float one_random_tree(std::vector<float> values, RandomValues& random,
                      NumberFormat format = NumberFormat::fp32) {
  while (values.size() > 1) {
    auto const at = random.below(values.size());
    float const taken = values[at];
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
    float& other = values[random.below(values.size())];
    other = rounded(other + taken, format);
  }
  return values.front();
}

/// A value of one of the kinds that meet in wild gradients.
float wild_value(RandomValues& random) {
  constexpr float special[] = {0.0F,     -0.0F,    0x1p-149F, -0x1p-149F, 0x1p-126F, largest,
                               -largest, 0x1p127F, -0x1p127F, inf,        -inf,      nan_value};
  auto const kind = random.below(16);
  if (kind < 2) return special[random.below(std::size(special))];
  if (kind < 4) return random.scaled(-149, -120);
  if (kind < 8) return random.scaled(120, 128);
  if (kind < 9) return special[random.below(9)];
  if (kind < 12) return random.scaled(-8, 2);
  return random.scaled(-1, 0);
}

std::vector<float> wild_inputs(RandomValues& random, std::size_t count) {
  std::vector<float> inputs(count);
  for (auto& x : inputs) x = wild_value(random);
  return inputs;
}

std::string text(std::vector<float> const& inputs) {
  std::string result;
  for (float const x : inputs) result += testing::PrintToString(x) + ' ';
  return result;
}

TEST(SumBound, HoldsForEveryTreeOfSmallSets) {
  RandomValues random(1);
  for (int round = 0; round < 20000; ++round) {
    auto const inputs = wild_inputs(random, 1 + random.below(5));
    auto const bound = mean_bound(inputs);
    for (float const sum : every_sum(inputs)) {
      float const mean = sum / static_cast<float>(inputs.size());
      ASSERT_TRUE(bound.contains(mean)) << mean << " from " << text(inputs);
    }
  }
}

TEST(SumBound, HoldsForRandomTreesOfLargerSets) {
  RandomValues random(2);
  for (int round = 0; round < 3000; ++round) {
    auto const inputs = wild_inputs(random, 6 + random.below(60));
    auto const bound = mean_bound(inputs);
    for (int tree = 0; tree < 10; ++tree) {
      float const mean = one_random_tree(inputs, random) / static_cast<float>(inputs.size());
      ASSERT_TRUE(bound.contains(mean)) << mean << " from " << text(inputs);
    }
  }
}

/// Inputs around the limits of a short format, rounded to it.
std::vector<float> short_inputs(RandomValues& random, NumberFormat format, std::size_t count) {
  int const top = std::ilogb(largest_finite(format)) + 1;
  std::vector<float> inputs(count);
  for (auto& x : inputs) {
    auto const kind = random.below(8);
    if (kind < 3) x = random.scaled(-8, 2);
    if (kind == 3) x = random.scaled(top - 3, top);
    if (kind == 4) x = random.scaled(-24, -12);
    if (kind == 5) x = 0.0F;
    if (kind == 6) x = random.scaled(-1, 0);
    if (kind == 7) x = wild_value(random);
  }
  round_to(format, inputs);
  return inputs;
}

float mean_of_sum(float sum, std::size_t count, NumberFormat format) {
  return rounded(sum / static_cast<float>(count), format);
}

TEST(SumBound, HoldsForEveryTreeInShortFormats) {
  RandomValues random(21);
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16})
    for (int round = 0; round < 10000; ++round) {
      auto const inputs = short_inputs(random, format, 1 + random.below(5));
      float const older = short_inputs(random, format, 1).front();
      auto const bound = mean_bound(inputs, format);
      for (float const sum : every_sum(inputs, format)) {
        float const mean = mean_of_sum(sum, inputs.size(), format);
        ASSERT_TRUE(bound.contains(mean))
            << name_of(format) << ' ' << mean << " from " << text(inputs);
        float const grown = rounded(older + mean, format);
        ASSERT_TRUE(add_to(older, bound, format).contains(grown))
            << name_of(format) << ' ' << grown << " from " << older << " and " << text(inputs);
      }
    }
}

TEST(SumBound, HoldsForRandomTreesOfAsManyShortInputsAsItIsFor) {
  RandomValues random(22);
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16})
    for (int round = 0; round < 30; ++round) {
      auto const most = static_cast<std::size_t>(inputs_max(format));
      auto const inputs = short_inputs(random, format, round == 0 ? most : 6 + random.below(250));
      auto const bound = mean_bound(inputs, format);
      for (int tree = 0; tree < 10; ++tree) {
        float const sum = one_random_tree(inputs, random, format);
        ASSERT_TRUE(bound.contains(mean_of_sum(sum, inputs.size(), format)))
            << name_of(format) << ' ' << text(inputs);
      }
    }
}

TEST(SumBound, InShortFormatsTwoInputsLeaveOneValueAndALostOneIsOutside) {
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16}) {
    auto const pair = mean_bound(std::vector{1.0F, 0x1p-9F, 0.0F, 0.0F}, format);
    EXPECT_EQ(pair.lo, pair.hi);
    auto const four = mean_bound(std::vector{1.0F, 1.0F, 1.0F, 1.0F}, format);
    EXPECT_TRUE(four.contains(1.0F));
    EXPECT_FALSE(four.contains(0.75F));
  }
}

// Sums around the limit of binary32, where partial sums overflow in some orders only.
TEST(SumBound, HoldsWhereOnlySomeOrdersOverflow) {
  RandomValues random(3);
  int mixed = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<float> inputs(3 + random.below(3));
    for (auto& x : inputs) x = random.scaled(126, 128);
    auto const bound = mean_bound(inputs);
    bool finite = false, infinite = false;
    for (float const sum : every_sum(inputs)) {
      ASSERT_TRUE(bound.contains(sum / static_cast<float>(inputs.size()))) << text(inputs);
      (std::isfinite(sum) ? finite : infinite) = true;
    }
    mixed += finite && infinite ? 1 : 0;
  }
  EXPECT_GT(mixed, 500);  // the rounds did meet the case
}

// ---- how tight ----------------------------------------------------------------------------------

// 1 + u rounds back to 1, so adding units one by one stays at 1: that is the lower end exactly.
TEST(SumBound, LowerEndIsReached) {
  std::vector<float> inputs(64, 0x1p-24F);
  inputs[0] = 1.0F;
  float sum = 0.0F;
  for (float const x : inputs) sum += x;
  ASSERT_EQ(sum, 1.0F);
  EXPECT_EQ(mean_bound(inputs).lo, 1.0F / 64.0F);
}

TEST(SumBound, OneOrTwoNonzeroInputsLeaveOneValue) {
  RandomValues random(4);
  for (int round = 0; round < 1000; ++round) {
    float const a = random.finite(), b = random.scaled(-4, 4);
    float const inputs[] = {0.0F, a, -0.0F, b, 0.0F};
    auto const bound = mean_bound(inputs);
    EXPECT_EQ(bound.lo, bound.hi);
    EXPECT_TRUE(bound.contains((a + b) / 5.0F)) << a << ' ' << b;
  }
}

// Four inputs of one magnitude, any sign: three roundings of at most half an ulp of a sum below 8,
// so the ends are at most 6 ulp of 1 from the exact sum each; on average half of that is slack.
TEST(SumBound, EndsLieNearWhatReallyOccurs) {
  RandomValues random(5);
  double slack_total = 0.0;
  constexpr int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<float> inputs(4);
    for (auto& x : inputs)
      x = std::copysign(1.0F + 0.5F * std::abs(random.scaled(0, 0)), random.scaled(0, 0));
    auto const sums = every_sum(inputs);
    auto const [least, most] = std::minmax_element(sums.begin(), sums.end());
    auto const bound = mean_bound(inputs);
    slack_total += (*least / 4.0 - bound.lo) + (bound.hi - *most / 4.0);
  }
  double const slack_ulps = 4.0 * slack_total / rounds / 0x1p-23;
  RecordProperty("slack_ulps_of_one", std::to_string(slack_ulps));
  EXPECT_LT(slack_ulps, 6.0);  // both ends together
  EXPECT_GT(slack_ulps, 0.0);
}

// A sum that lost a whole input must not pass.
TEST(SumBound, ALostInputIsOutside) {
  RandomValues random(6);
  for (int round = 0; round < 1000; ++round) {
    std::vector<float> inputs(8);
    for (auto& x : inputs) x = 1.0F + 0.5F * std::abs(random.scaled(0, 0));
    auto const bound = mean_bound(inputs);
    inputs.pop_back();
    EXPECT_FALSE(bound.contains(one_random_tree(inputs, random) / 8.0F));
  }
}

// ---- classes ------------------------------------------------------------------------------------

TEST(SumBound, NanAmongTheInputsLeavesNanOnly) {
  EXPECT_EQ(mean_bound(std::vector{1.0F, nan_value, inf}), (Admissible{.may_be_nan = true}));
  EXPECT_EQ(mean_bound(std::vector{-inf, 2.0F, inf}), (Admissible{.may_be_nan = true}));
}

TEST(SumBound, AnInfinityLeavesThatInfinity) {
  EXPECT_EQ(mean_bound(std::vector{1.0F, inf, -largest}), (Admissible{.may_be_pos_inf = true}));
  EXPECT_EQ(mean_bound(std::vector{-inf, -inf, 3.0F}), (Admissible{.may_be_neg_inf = true}));
}

TEST(SumBound, AnInfinityMeetsAnOverflowOfTheOtherSign) {
  EXPECT_EQ(mean_bound(std::vector{inf, -largest, -largest}),
            (Admissible{.may_be_nan = true, .may_be_pos_inf = true}));
}

TEST(SumBound, OverflowOfOneSignAdmitsFiniteValuesToo) {
  auto const bound = mean_bound(std::vector{largest, largest, -largest});
  EXPECT_TRUE(bound.contains(largest / 3.0F));
  EXPECT_TRUE(bound.contains(inf));
  EXPECT_FALSE(bound.contains(-inf));
  EXPECT_FALSE(bound.contains(nan_value));
  EXPECT_FALSE(bound.contains(0.0F));
}

// From 2^128 - 2^103 on a sum rounds to infinity; 2^102 more than the largest number is below that.
TEST(SumBound, SumsThatRoundDownToTheLargestNumberDoNotOverflow) {
  EXPECT_FALSE(mean_bound(std::vector{largest, 0x1p102F, -1.0F}).may_be_pos_inf);
  EXPECT_TRUE(mean_bound(std::vector{largest, 0x1p103F, -1.0F}).may_be_pos_inf);
}

TEST(SumBound, OverflowOfBothSignsAdmitsEverything) {
  auto const bound = mean_bound(std::vector{largest, largest, -largest, -largest});
  for (float const x : {0.0F, inf, -inf, nan_value}) EXPECT_TRUE(bound.contains(x)) << x;
}

TEST(SumBound, SumsBeyondTheRangeAreNeverFinite) {
  auto const bound = mean_bound(std::vector{largest, largest, largest});
  EXPECT_FALSE(bound.finite_possible);
  EXPECT_FALSE(bound.contains(largest));
  EXPECT_TRUE(bound.contains(inf));
}

TEST(SumBound, BothZerosAreAdmissibleForAZeroSum) {
  auto const bound = mean_bound(std::vector{-0.0F, -0.0F});
  EXPECT_TRUE(bound.contains(0.0F));
  EXPECT_TRUE(bound.contains(-0.0F));
  EXPECT_FALSE(bound.contains(0x1p-149F));
}

TEST(SumBound, TellsHowMuchOfItIsUsed) {
  Admissible const bound{.finite_possible = true, .lo = 1.0F, .hi = 2.0F};
  EXPECT_EQ(bound.used(1.5F), 0.0);
  EXPECT_EQ(bound.used(1.75F), 0.5);
  EXPECT_EQ(bound.used(1.0F), 1.0);
}

// ---- the second backward ------------------------------------------------------------------------

TEST(SumBound, AddingToAnOlderGradientHoldsForEveryTree) {
  RandomValues random(7);
  for (int round = 0; round < 10000; ++round) {
    auto const inputs = wild_inputs(random, 1 + random.below(4));
    float const older = wild_value(random);
    auto const bound = add_to(older, mean_bound(inputs));
    for (float const sum : every_sum(inputs)) {
      float const gradient = older + sum / static_cast<float>(inputs.size());
      ASSERT_TRUE(bound.contains(gradient)) << gradient << ": " << older << " + " << text(inputs);
    }
  }
}

TEST(SumBound, AddingOneExactMeanLeavesOneValue) {
  auto const bound = add_to(0.1F, mean_bound(std::vector{0.7F}));
  EXPECT_EQ(bound.lo, 0.1F + 0.7F);
  EXPECT_EQ(bound.hi, 0.1F + 0.7F);
}

TEST(SumBound, AnOlderInfinityStaysUnlessTheMeanIsTheOther) {
  EXPECT_EQ(add_to(inf, mean_bound(std::vector{1.0F})).contains(inf), true);
  EXPECT_EQ(add_to(inf, mean_bound(std::vector{-inf})), (Admissible{.may_be_nan = true}));
  EXPECT_EQ(add_to(nan_value, mean_bound(std::vector{1.0F})), (Admissible{.may_be_nan = true}));
}

TEST(SumBound, AddingCanOverflow) {
  auto const bound = add_to(largest, mean_bound(std::vector{largest}));
  EXPECT_FALSE(bound.finite_possible);
  EXPECT_TRUE(bound.contains(inf));
  EXPECT_FALSE(bound.contains(largest));
}

// ---- whole tensors ------------------------------------------------------------------------------

TEST(MeanBounds, GiveWhatEachElementWouldGetAlone) {
  RandomValues random(8);
  constexpr std::size_t numel = 500, count = 6;
  std::vector<std::vector<float>> elements(numel);
  MeanBounds bounds(numel);
  for (std::size_t microbatch = 0; microbatch < count; ++microbatch) {
    auto const values = wild_inputs(random, numel);
    for (std::size_t i = 0; i < numel; ++i) elements[i].push_back(values[i]);
    bounds.add(values);
  }
  EXPECT_EQ(bounds.count(), 6);
  for (std::size_t i = 0; i < numel; ++i)
    EXPECT_EQ(bounds.at(static_cast<std::int64_t>(i)), mean_bound(elements[i]))
        << text(elements[i]);
}

TEST(MeanBounds, AdmitOneMeanAloneAndOnTopOfAnOlderGradient) {
  MeanBounds bounds(2);
  bounds.add(std::vector{1.0F, 2.0F});
  bounds.add(std::vector{3.0F, 2.0F});
  EXPECT_TRUE(bounds.at(0).contains(2.0F));
  EXPECT_FALSE(bounds.at(1).contains(2.5F));
  EXPECT_TRUE(add_to(10.0F, bounds.at(0)).contains(12.0F));
  EXPECT_FALSE(add_to(20.0F, bounds.at(1)).contains(2.0F));
}

}  // namespace
}  // namespace adamant::oracle
