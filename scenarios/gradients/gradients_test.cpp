#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "oracle/formats/formats.h"
#include "scenarios/gradients/blocks.h"
#include "scenarios/gradients/keys.h"

namespace adamant::scenarios {
namespace {

constexpr std::size_t numel = 5000;

std::vector<std::uint32_t> hashes(std::uint64_t seed = 7) {
  std::vector<std::uint32_t> result(numel);
  hash_block(gradient_key({.seed = seed, .parameter = 2}, 1), 0, result);
  return result;
}

MicrobatchKey key_of(int microbatch, int count) {
  return microbatch_key(
      {.seed = 7, .backward = 1, .microbatch = microbatch, .microbatch_count = count});
}

std::vector<float> gradients(GradientClass kind, int microbatch, int count) {
  std::vector<float> result(numel);
  gradient_block(kind, key_of(microbatch, count), hashes(), result.data());
  return result;
}

/// Sums in the order of `step` through the microbatches, modulo their number.
std::vector<float> sums(int count, int step) {
  std::vector<float> total(numel);
  for (int i = 0; i < count; ++i)
    add_block(gradients(GradientClass::exact, i * step % count, count), total.data());
  return total;
}

TEST(Gradients, ExactOnesHaveTheSameSumInAnyOrder) {
  for (int const count : {1, 2, 3, 8, 11, 128}) {
    auto const forwards = sums(count, 1);
    EXPECT_EQ(sums(count, 7), forwards) << count;  // 7 divides none of the counts
    std::vector<double> wide(numel);
    for (int m = 0; m < count; ++m) {
      auto const part = gradients(GradientClass::exact, m, count);
      for (std::size_t i = 0; i < numel; ++i) wide[i] += static_cast<double>(part[i]);
    }
    for (std::size_t i = 0; i < numel; ++i)
      ASSERT_EQ(static_cast<double>(forwards[i]), wide[i]) << count << " at " << i;
  }
}

TEST(Gradients, ExactMeansAreRepresentable) {
  for (int const count : {3, 5, 7, 13}) {
    auto const total = sums(count, 1);
    for (float const sum : total) {
      float const mean = sum / static_cast<float>(count);
      ASSERT_EQ(static_cast<double>(mean) * count, static_cast<double>(sum));
    }
  }
}

TEST(Gradients, ExactOnesDifferBetweenMicrobatchesAndAreMostlyNotZero) {
  auto const first = gradients(GradientClass::exact, 0, 8);
  auto const second = gradients(GradientClass::exact, 1, 8);
  int zeros = 0;
  int equal = 0;
  int negative = 0;
  std::set<int> exponents;
  for (std::size_t i = 0; i < numel; ++i) {
    ASSERT_FALSE(first[i] == 0.0F && std::signbit(first[i]));
    zeros += first[i] == 0.0F ? 1 : 0;
    equal += first[i] == second[i] ? 1 : 0;
    negative += first[i] < 0.0F ? 1 : 0;
    if (first[i] != 0.0F) exponents.insert(std::ilogb(first[i]));
  }
  EXPECT_GT(zeros, 100);
  EXPECT_LT(zeros, 1000);
  EXPECT_LT(equal, 1000);
  EXPECT_GT(negative, 1500);
  EXPECT_LT(negative, 3500);
  EXPECT_GT(exponents.size(), 12U);
}

TEST(Gradients, ManyMicrobatchesLeaveFewerBitsAndStayExact) {
  for (int log2_count = 0; log2_count <= 24; ++log2_count) {
    int const count = 1 << log2_count;
    ExactBits const bits = exact_bits(count);
    std::int64_t const value_max =
        (1LL << bits.mean) + (bits.has_deviation ? 1LL << bits.deviation : 0);
    EXPECT_LE(count * value_max, 1LL << 24) << count;
  }
  EXPECT_FALSE(exact_bits(1 << 24).has_deviation);
}

/// Gradients, their sum and their mean are numbers of the format.
void expect_exact(NumberFormat format, int count) {
  std::vector<double> sum(numel);
  std::vector<float> values(numel);
  for (int m = 0; m < count; ++m) {
    auto const key = microbatch_key(
        {.seed = 7, .backward = 1, .microbatch = m, .microbatch_count = count, .format = format});
    gradient_block(GradientClass::exact, key, hashes(), values.data());
    for (std::size_t i = 0; i < numel; ++i) {
      ASSERT_EQ(oracle::rounded(values[i], format), values[i]);
      sum[i] += static_cast<double>(values[i]);
    }
  }
  for (std::size_t i = 0; i < numel; ++i) {
    auto const mean = static_cast<float>(sum[i] / count);
    ASSERT_EQ(static_cast<double>(oracle::rounded(mean, format)) * count, sum[i]) << i;
    ASSERT_EQ(static_cast<double>(oracle::rounded(static_cast<float>(sum[i]), format)), sum[i]);
  }
  EXPECT_GT(std::count_if(sum.begin(), sum.end(), [](double x) { return x != 0.0; }), 1000);
}

TEST(Gradients, ExactOnesFitShortFormats) {
  for (int const count : {1, 2, 3, 7, 8, 33, 128, 255, 256})
    expect_exact(NumberFormat::bf16, count);
  for (int const count : {1, 5, 100, 2048}) expect_exact(NumberFormat::fp16, count);
}

/// The addends of a parameter with three names, in one microbatch.
std::vector<MicrobatchKey> keys_of_names(NumberFormat format, int microbatch, int count) {
  MicrobatchPlace place{.seed = 7,
                        .backward = 1,
                        .microbatch = microbatch,
                        .microbatch_count = count,
                        .format = format,
                        .name_count = 3};
  std::vector<MicrobatchKey> keys{microbatch_key(place)};
  for (int const name : {5, 8}) {
    place.other_name = name;
    keys.push_back(microbatch_key(place));
  }
  return keys;
}

// Also where one name is left out, and in whichever order.
TEST(Gradients, ExactOnesOfSeveralNamesHaveSumsAndMeansInTheFormat) {
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::fp32})
    for (int const count : {1, 2, 7, 32})
      for (unsigned const names : {1U, 2U, 3U, 4U, 5U, 7U}) {
        std::vector<float> total(numel);
        std::vector<double> exact(numel);
        std::vector<float> values(numel);
        for (int m = 0; m < count; ++m)
          for (std::size_t name = 0; name < 3; ++name) {
            if ((names >> name & 1U) == 0) continue;
            gradient_block(GradientClass::exact, keys_of_names(format, m, count)[name], hashes(),
                           values.data());
            add_block(values, total.data());
            oracle::round_to(format, total);
            for (std::size_t e = 0; e < numel; ++e) exact[e] += static_cast<double>(values[e]);
          }
        for (std::size_t e = 0; e < numel; ++e) {
          ASSERT_EQ(static_cast<double>(total[e]), exact[e]);
          auto const mean = static_cast<float>(exact[e] / count);
          ASSERT_EQ(static_cast<double>(oracle::rounded(mean, format)) * count, exact[e]);
        }
      }
}

TEST(Gradients, EveryNameHasAnother) {
  auto const keys = keys_of_names(NumberFormat::fp32, 0, 4);
  for (GradientClass const kind : {GradientClass::exact, GradientClass::normal}) {
    std::vector<std::vector<float>> all;
    for (MicrobatchKey const& key : keys)
      gradient_block(kind, key, hashes(), all.emplace_back(numel).data());
    for (auto const& [a, b] : {std::pair{0U, 1U}, std::pair{0U, 2U}, std::pair{1U, 2U}}) {
      std::size_t same = 0;
      for (std::size_t e = 0; e < numel; ++e) same += all[a][e] == all[b][e] ? 1 : 0;
      EXPECT_LT(same, numel / 8);  // exact: one element in 16 is zero in all of them
    }
  }
}

TEST(Gradients, PartialSumsOfExactOnesSurviveRoundingInAnyOrder) {
  for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16}) {
    constexpr int count = 12;
    for (int const step : {1, 5, 7}) {
      std::vector<float> total(numel);
      std::vector<double> exact(numel);
      std::vector<float> values(numel);
      for (int i = 0; i < count; ++i) {
        auto const key = microbatch_key({.seed = 7,
                                         .backward = 1,
                                         .microbatch = i * step % count,
                                         .microbatch_count = count,
                                         .format = format});
        gradient_block(GradientClass::exact, key, hashes(), values.data());
        add_block(values, total.data());
        oracle::round_to(format, total);
        for (std::size_t e = 0; e < numel; ++e) exact[e] += static_cast<double>(values[e]);
      }
      for (std::size_t e = 0; e < numel; ++e)
        ASSERT_EQ(static_cast<double>(total[e]), exact[e]) << name_of(format) << ' ' << e;
    }
  }
}

TEST(Gradients, NormalOnesAreCentredAndOfAllMagnitudes) {
  auto const values = gradients(GradientClass::normal, 3, 8);
  double mean = 0;
  double square = 0;
  for (float const value : values) {
    mean += static_cast<double>(value) / numel;
    square += static_cast<double>(value) * static_cast<double>(value) / numel;
  }
  EXPECT_LT(std::abs(mean), 4 * std::sqrt(square / numel));
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), numel * 9 / 10);
}

TEST(Gradients, WildOnesAreMostlyFiniteAndHaveEveryKind) {
  int nans = 0;
  int infinities = 0;
  int subnormals = 0;
  int negative_zeros = 0;
  int huge = 0;
  for (int m = 0; m < 4; ++m) {
    for (float const value : gradients(GradientClass::wild, m, 4)) {
      nans += std::isnan(value) ? 1 : 0;
      infinities += std::isinf(value) ? 1 : 0;
      subnormals += std::fpclassify(value) == FP_SUBNORMAL ? 1 : 0;
      negative_zeros += value == 0.0F && std::signbit(value) ? 1 : 0;
      huge += std::isfinite(value) && std::abs(value) > 1e37F ? 1 : 0;
    }
  }
  for (int const count : {nans, infinities, subnormals, negative_zeros, huge}) EXPECT_GT(count, 10);
  EXPECT_LT(nans + infinities, 500);
}

TEST(Gradients, BlocksAgreeWithSingleElementsAlsoBeyondFourBillion) {
  TensorKey const key = gradient_key({.seed = 7, .parameter = 2}, 1);
  constexpr std::uint64_t begin = (1ULL << 32) - 5;
  std::vector<std::uint32_t> block(10);
  hash_block(key, begin, block);
  for (std::size_t i = 0; i < block.size(); ++i)
    EXPECT_EQ(block[i], element_hash(key, begin + i)) << i;
}

TEST(Gradients, DependOnSeedParameterAndBackward) {
  std::set<std::uint32_t> firsts;
  for (std::uint64_t const seed : {1ULL, 2ULL})
    for (int const parameter : {0, 1})
      for (std::int64_t const backward : {0, 1})
        firsts.insert(
            element_hash(gradient_key({.seed = seed, .parameter = parameter}, backward), 0));
  EXPECT_EQ(firsts.size(), 8U);
}

TEST(Gradients, AnOverflowStrikesAnyElementThatGetsAGradient) {
  std::vector<std::int64_t> const numels = {0, 5, 3};
  std::set<std::int64_t> elements;
  std::set<int> microbatches;
  int nans = 0, infinities = 0, negative = 0;
  for (std::int64_t backward = 0; backward < 200; ++backward) {
    auto const overflow = overflow_element(
        {.seed = 7, .backward = backward, .microbatch_count = 3, .numels = numels});
    ASSERT_TRUE(overflow.has_value());
    ASSERT_GT(overflow->name, 0);
    ASSERT_LT(overflow->element, numels[static_cast<std::size_t>(overflow->name)]);
    ASSERT_FALSE(std::isfinite(overflow->value));
    elements.insert(8 * overflow->name + overflow->element);
    microbatches.insert(overflow->microbatch);
    nans += std::isnan(overflow->value) ? 1 : 0;
    infinities += std::isinf(overflow->value) ? 1 : 0;
    negative += std::isinf(overflow->value) && overflow->value < 0.0F ? 1 : 0;
  }
  EXPECT_EQ(elements.size(), 8U);
  EXPECT_EQ(microbatches, (std::set{0, 1, 2}));
  for (int const count : {nans, infinities - negative, negative}) EXPECT_GT(count, 30);
}

TEST(Gradients, AnOverflowFindsNothingWhereNothingGetsAGradient) {
  std::vector<std::int64_t> const none = {0, 0};
  EXPECT_FALSE(overflow_element({.numels = none}).has_value());
  EXPECT_FALSE(overflow_element({}).has_value());
}

TEST(Gradients, TheFingerprintSeesOneWrongElementAndTwoExchangedOnes) {
  auto const h = hashes();
  std::vector<float> values(numel);
  initial_block(h, values.data());
  auto const right = fingerprint_block(h, values.data());
  auto wrong = values;
  wrong[17] = -wrong[17];
  EXPECT_NE(fingerprint_block(h, wrong.data()), right);
  auto exchanged = values;
  std::swap(exchanged[17], exchanged[18]);
  EXPECT_NE(fingerprint_block(h, exchanged.data()), right);
}

}  // namespace
}  // namespace adamant::scenarios
