// Which gradients stay finite: what is said is held to gradients as ranks are fed with them.
#include "scenarios/peers/client/gradients.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/formats/formats.h"

namespace adamant::scenarios {
namespace {

constexpr NumberFormat all_formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};
constexpr GradientClass all_classes[] = {GradientClass::exact, GradientClass::normal,
                                         GradientClass::wild};
constexpr float all_scales[] = {1.0F, 1024.0F, 0x1p16F, 0x1p24F, 0x1p100F, 0x1p127F};

/// The sum over all ranks, times `scale`, rounded to `format` after each step.
std::vector<float> reduced(FedGradients const& gradients, NumberFormat format, float scale) {
  auto const fed = fed_gradients(gradients, 0, std::nullopt);
  std::vector<float> sum(fed.front().front().size());
  for (WholeTensors const& rank : fed)
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] = oracle::rounded(sum[i] + oracle::rounded(rank[0][i] * scale, format), format);
  return sum;
}

bool all_finite(std::vector<float> const& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

class Gradients : public ::testing::TestWithParam<GradientClass> {
 protected:
  /// Sums of 2,000 elements on 4 ranks.
  static std::vector<float> of(GradientClass kind, NumberFormat format, float scale) {
    ParameterSpec spec;
    spec.shape = {2'000};
    return reduced({.parameters = std::span(&spec, 1),
                    .formats = std::span(&format, 1),
                    .kind = kind,
                    .seed = 3,
                    .microbatches = 4,
                    .ranks = 4},
                   format, scale);
  }
};

TEST_P(Gradients, ThatAreSaidToStayFiniteDo) {
  for (NumberFormat const format : all_formats)
    for (float const scale : all_scales) {
      if (!stays_finite({.gradient = format}, GetParam(), scale)) continue;
      EXPECT_TRUE(all_finite(of(GetParam(), format, scale))) << name_of(format) << " " << scale;
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachClass, Gradients, ::testing::ValuesIn(all_classes));

TEST(StaysFinite, SaysNoOfThoseThatDoNot) {
  EXPECT_FALSE(stays_finite({}, GradientClass::wild, 1.0F));
  for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16})
    EXPECT_FALSE(stays_finite({.gradient = format}, GradientClass::normal, 0x1p127F));
  EXPECT_FALSE(stays_finite({.gradient = NumberFormat::fp16}, GradientClass::normal, 0x1p16F));
  EXPECT_FALSE(stays_finite({.parameter = NumberFormat::fp16}, GradientClass::normal, 0x1p16F));
}

TEST(StaysFinite, SaysYesOfWhatUsersScaleWith) {
  EXPECT_TRUE(stays_finite({}, GradientClass::exact, 0x1p16F));
  EXPECT_TRUE(stays_finite({.gradient = NumberFormat::bf16}, GradientClass::normal, 0x1p16F));
  EXPECT_TRUE(stays_finite({.gradient = NumberFormat::fp16}, GradientClass::exact, 1.0F));
}

}  // namespace
}  // namespace adamant::scenarios
