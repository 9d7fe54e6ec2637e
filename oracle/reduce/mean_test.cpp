#include "oracle/reduce/mean.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::oracle {
namespace {

std::vector<float> mean_of(std::vector<std::vector<float>> const& microbatches) {
  std::vector<float> mean(microbatches.front().size(), -7.0F);
  auto const read = [&](int microbatch, std::int64_t begin, std::span<float> out) {
    auto const& values = microbatches[static_cast<std::size_t>(microbatch)];
    std::copy_n(values.begin() + begin, out.size(), out.begin());
  };
  mean_over_microbatches(static_cast<int>(microbatches.size()), read, mean);
  return mean;
}

TEST(Mean, OfOneMicrobatchIsThatMicrobatch) {
  EXPECT_EQ(mean_of({{1.0F, -0.1F, 0x1p-149F}}), (std::vector{1.0F, -0.1F, 0x1p-149F}));
}

TEST(Mean, IsElementwise) {
  EXPECT_EQ(mean_of({{1.0F, 2.0F}, {3.0F, -4.0F}}), (std::vector{2.0F, -1.0F}));
}

// 7 / 3 rounded once is not 7 times a rounded third.
TEST(Mean, DividesOnceAndNeverMultipliesByAReciprocal) {
  float const third = 1.0F / 3.0F;
  ASSERT_NE(7.0F / 3.0F, 7.0F * third);
  EXPECT_EQ(mean_of({{2.0F}, {4.0F}, {1.0F}}), std::vector{7.0F / 3.0F});
}

TEST(Mean, AddsInTheOrderOfMicrobatches) {
  EXPECT_EQ(mean_of({{1.0F}, {0x1p-24F}, {0x1p-24F}, {0.0F}}), std::vector{0.25F});
  EXPECT_GT(mean_of({{0x1p-24F}, {0x1p-24F}, {1.0F}, {0.0F}})[0], 0.25F);
}

TEST(Mean, LargeTensorsAreReadInBlocksThatCoverThemOnce) {
  constexpr std::int64_t numel = 50001;
  std::vector<float> mean(numel);
  std::vector<int> reads(numel);
  mean_over_microbatches(
      3,
      [&](int microbatch, std::int64_t begin, std::span<float> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
          auto const index = static_cast<std::size_t>(begin) + i;
          ++reads[index];
          out[i] = static_cast<float>(index % 1000) * static_cast<float>(microbatch);
        }
      },
      mean);
  for (std::size_t i = 0; i < numel; ++i) {
    ASSERT_EQ(reads[i], 3) << i;
    ASSERT_EQ(mean[i], static_cast<float>(i % 1000)) << i;
  }
}

TEST(Mean, EmptyTensorsAreNotRead) {
  auto const read = [](int, std::int64_t, std::span<float>) { FAIL() << "nothing to read"; };
  mean_over_microbatches(2, read, {});
}

}  // namespace
}  // namespace adamant::oracle
