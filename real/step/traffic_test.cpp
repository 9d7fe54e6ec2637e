#include "real/step/traffic.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

constexpr auto fp32 = NumberFormat::fp32;
constexpr auto bf16 = NumberFormat::bf16;
constexpr auto fp16 = NumberFormat::fp16;
constexpr auto fp8 = NumberFormat::fp8;

void expect(Formats const& formats, std::size_t read, std::size_t written) {
  StepTraffic const traffic = traffic_of_step(formats);
  EXPECT_EQ(traffic.read, read);
  EXPECT_EQ(traffic.written, written);
}

// The floors that GPU kernels are measured against: an element, counted by hand.
TEST(StepTraffic, OfUsualCombinations) {
  expect({}, 16, 12);
  expect({.parameter = bf16, .gradient = bf16, .main = fp32}, 14, 14);
  expect({.parameter = bf16, .main = fp32}, 16, 14);
  expect({.parameter = bf16, .gradient = bf16, .main = NumberFormat::remainder}, 14, 12);
  expect({.parameter = bf16, .gradient = bf16, .exp_avg = bf16, .exp_avg_sq = bf16, .main = fp32},
         10, 10);
  expect({.parameter = bf16,
          .gradient = bf16,
          .exp_avg = bf16,
          .exp_avg_sq = bf16,
          .main = NumberFormat::remainder},
         10, 8);
  expect({.parameter = bf16, .gradient = bf16, .exp_avg = fp8, .exp_avg_sq = fp8, .main = fp32}, 8,
         8);
  expect({.parameter = bf16, .gradient = bf16, .exp_avg = bf16, .exp_avg_sq = bf16}, 8, 6);
  expect({.gradient = bf16, .main = fp32, .recipe = Recipe::fp8_block}, 14, 12);
}

TEST(StepTraffic, CountsTheCastCopyInThePlaceOfTheGradient) {
  expect({.parameter = bf16, .gradient = bf16, .main = fp32, .decoupled_gradient = false}, 16, 14);
}

TEST(StepTraffic, OfThePassForScalesIsThatOfWhatNewStatesAreMadeOf) {
  Formats formats{.parameter = bf16, .gradient = bf16, .exp_avg = fp16, .main = fp32};
  EXPECT_EQ(traffic_of_step(formats).read_for_scales, 2U + 2);
  EXPECT_EQ(traffic_of_step(formats, AdamMode::adam).read_for_scales, 4U + 2 + 2);
  formats.exp_avg = fp32;
  EXPECT_EQ(traffic_of_step(formats).read_for_scales, 0U);
  formats.main = fp16;
  EXPECT_EQ(traffic_of_step(formats).read_for_scales, 2U + 2 + 4 + 4);
}

}  // namespace
}  // namespace adamant::real
