#include "oracle/torch/clip.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "oracle/golden/torch_adam.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

TEST(TorchClip, GradientsArePyTorchsBitForBit) {
  int clipped = 0;
  for (auto const& row : torch_golden::clips) {
    auto const norm = std::bit_cast<float>(row.norm);
    auto const gradient = std::bit_cast<float>(row.gradient);
    float const coefficient = torch_clip_coefficient(row.max_norm, norm, row.format);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(torch_scaled(gradient, coefficient, row.format)),
              row.gradient_after)
        << name_of(row.format) << ", norm " << norm;
    clipped += coefficient < 1.0F ? 1 : 0;
  }
  EXPECT_EQ(clipped, 6);
}

TEST(TorchClip, AReciprocalAndAProductRoundTwice) {
  int others = 0;
  for (int i = 1; i < 1000; ++i) {
    float const norm = 1.0F + static_cast<float>(i) * 0.013F;
    float const once = 0.7F / (norm + 1e-6F);
    others += torch_clip_coefficient(0.7F, norm, NumberFormat::fp32) != once ? 1 : 0;
  }
  EXPECT_GT(others, 100);
}

TEST(TorchClip, ANormThatIsNoNumberReachesGradientsAndAnInfiniteOneZeroesThem) {
  EXPECT_TRUE(std::isnan(torch_clip_coefficient(1.0F, NAN, NumberFormat::bf16)));
  EXPECT_EQ(torch_clip_coefficient(1.0F, inf, NumberFormat::bf16), 0.0F);
  EXPECT_EQ(torch_clip_coefficient(1.0F, 0.0F, NumberFormat::fp32), 1.0F);
}

}  // namespace
}  // namespace adamant::oracle
