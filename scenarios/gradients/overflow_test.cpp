#include "scenarios/gradients/overflow.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace adamant::scenarios {
namespace {

std::vector<ParameterSpec> two_parameters() {
  return {{.name = "a", .shape = {3, 2}}, {.name = "b", .shape = {4}}};
}

TEST(Overflow, StrikesOnlyABackwardThatItWasAskedFor) {
  auto const parameters = two_parameters();
  GradientOwner const owner = {.seed = 7, .microbatch_count = 2, .parameters = parameters};
  resolved::Backward backward;
  EXPECT_FALSE(overflow_in(backward, owner).has_value());
  backward.overflow = true;
  EXPECT_TRUE(overflow_in(backward, owner).has_value());
}

TEST(Overflow, LeavesOutParametersWithoutGradient) {
  auto const parameters = two_parameters();
  GradientOwner const owner = {.seed = 7, .microbatch_count = 2, .parameters = parameters};
  for (std::int64_t index = 0; index < 20; ++index) {
    std::array const without = {1};
    resolved::Backward const backward{.without = without, .index = index, .overflow = true};
    EXPECT_EQ(overflow_in(backward, owner)->name, 0);
  }
}

TEST(Overflow, StrikesOneOfAParametersNames) {
  auto const parameters = two_parameters();
  Registry const registry = {.parameter = {0, 1, 0}, .names = {{0, 2}, {1}}};
  GradientOwner const owner = {
      .seed = 7, .microbatch_count = 2, .parameters = parameters, .registry = &registry};
  std::set<int> names;
  for (std::int64_t index = 0; index < 40; ++index) {
    std::array const left_out = {0};
    resolved::Backward const backward{.left_out = left_out, .index = index, .overflow = true};
    names.insert(overflow_in(backward, owner)->name);
  }
  EXPECT_EQ(names, (std::set{1, 2}));
}

TEST(StayExact, TimesPowersOfTwoThatTheFormatHasRoomFor) {
  for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) {
    EXPECT_TRUE(stay_exact(1.0F, format));
    EXPECT_TRUE(stay_exact(256.0F, format));
    EXPECT_FALSE(stay_exact(3.0F, format));
    EXPECT_FALSE(stay_exact(0x1p-149F, format));
    EXPECT_FALSE(stay_exact(0x1p127F, format));
  }
  EXPECT_TRUE(stay_exact(0x1p32F, NumberFormat::fp32));
  EXPECT_TRUE(stay_exact(0x1p32F, NumberFormat::bf16));
  EXPECT_FALSE(stay_exact(0x1p32F, NumberFormat::fp16));
  EXPECT_FALSE(stay_exact(0x1p-6F, NumberFormat::fp16));
}

}  // namespace
}  // namespace adamant::scenarios
