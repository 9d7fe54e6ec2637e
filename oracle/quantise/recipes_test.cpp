#include "oracle/quantise/recipes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "oracle/golden/recipes.h"
#include "oracle/testing/special_values.h"

namespace adamant::oracle {
namespace {

constexpr Recipe recipes[] = {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4};
constexpr MatrixShape golden_shape{.rows = 128, .columns = 256};
constexpr int golden_steps = 20;

/// As recipes.py has them.
std::vector<float> golden_weights(std::string const& kind, std::uint64_t seed) {
  std::vector<float> values;
  for (int i = 0; i < golden_shape.numel(); ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    auto const mantissa = static_cast<double>(static_cast<std::int64_t>(seed >> 40) - (1 << 23));
    int const exponent = kind == "tiny" ? -149 : -30 + i / 256 % 24;
    bool const hole = kind == "holes" && i % 512 < 256;
    values.push_back(hole ? 0.0F : static_cast<float>(std::ldexp(mantissa, exponent)));
  }
  if (kind == "holes") values[300] = nan;
  if (kind == "holes") values[301] = -0.0F;
  if (kind == "infinite") values[777] = -inf;
  return values;
}

template <typename T>
std::uint64_t digest(std::vector<T> const& values) {
  std::uint64_t result = 0xcbf29ce484222325U;
  for (T value : values) {
    if (value != value) value = static_cast<T>(nan);
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (unsigned const byte : bytes) result = (result ^ byte) * 0x100000001b3U;
  }
  return result;
}

Quantised golden_quantised(Recipe recipe, std::string const& kind) {
  if (recipe != Recipe::fp8_delayed) return quantise(golden_weights(kind, 1), golden_shape, recipe);
  DelayedScale delayed;
  Quantised last;
  for (int i = 0; i < golden_steps; ++i) {
    auto weights = golden_weights(kind, static_cast<std::uint64_t>(1 + i));
    for (float& weight : weights) weight *= std::ldexp(1.0F, -(i % 7));
    last = quantise(weights, golden_shape, recipe, &delayed);
  }
  last.scales.push_back(delayed.next);
  return last;
}

TEST(Recipes, AreThoseOfNumpyAndMlDtypes) {
  for (golden::RecipeRow const& row : golden::recipe_rows) {
    SCOPED_TRACE(std::string(row.recipe) + " of " + row.kind);
    auto const* const recipe =
        std::ranges::find(recipes, row.recipe, [](Recipe each) { return name_of(each); });
    ASSERT_NE(recipe, std::end(recipes));
    Quantised const quantised = golden_quantised(*recipe, row.kind);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(quantised.scales.front()), row.first_scale);
    EXPECT_EQ(digest(quantised.codes), row.codes);
    EXPECT_EQ(digest(quantised.scales), row.scales);
    EXPECT_EQ(digest(read(quantised, golden_shape, *recipe)), row.read);
  }
}

// By hand: amax 7 gives 448 / 7 = 64, a power of two, under which 1, 3.5 and 7 are exact.
TEST(Recipes, OfWholeTensorsBringTheLargestNumberToTheLargestCode) {
  std::vector<float> const weights = {7.0F, -3.5F, 1.0F, nan};
  Quantised const quantised = quantise(weights, {.rows = 2, .columns = 2}, Recipe::fp8_current);
  EXPECT_EQ(quantised.codes, (std::vector<std::uint8_t>{0x7e, 0xf6, 0x68, 0x7f}));
  EXPECT_EQ(quantised.scales, std::vector<float>{0x1p-6F});
  EXPECT_EQ(quantised.amax, 7.0F);
  auto const values = read(quantised, {.rows = 2, .columns = 2}, Recipe::fp8_current);
  EXPECT_EQ(values[0], 7.0F);
  EXPECT_EQ(values[1], -3.5F);
  EXPECT_TRUE(std::isnan(values[3]));
}

TEST(Recipes, ADelayedScaleIsThatOfTheAmaxesBefore) {
  DelayedScale delayed;
  MatrixShape const shape{.rows = 1, .columns = 2};
  EXPECT_EQ(quantise(std::vector{7.0F, 1.0F}, shape, Recipe::fp8_delayed, &delayed).scales[0], 1);
  EXPECT_EQ(delayed.next, 64.0F);
  EXPECT_EQ(delayed.history.back(), 7.0F);
  EXPECT_EQ(quantise(std::vector{1.0F, 1.0F}, shape, Recipe::fp8_delayed, &delayed).scales[0],
            0x1p-6F);
  EXPECT_EQ(delayed.next, 64.0F) << "the largest of the history, not the newest";
  for (int i = 0; i < 14; ++i)
    quantise(std::vector{1.0F, 0.0F}, shape, Recipe::fp8_delayed, &delayed);
  EXPECT_EQ(delayed.next, 64.0F) << "the sixteenth still counts";
  quantise(std::vector{1.0F, 0.0F}, shape, Recipe::fp8_delayed, &delayed);
  EXPECT_EQ(delayed.next, 448.0F);
  quantise(std::vector{inf, 0.0F}, shape, Recipe::fp8_delayed, &delayed);
  EXPECT_EQ(delayed.next, 448.0F) << "unchanged by what is not finite";
}

// 9 * (224 * fl32(1/6)) is above 336, half-way between two codes, to which 9 * 224 / 6 is equal.
TEST(Recipes, TheOrderOfOperationsDecidesTies) {
  MatrixShape const shape{.rows = 16, .columns = 32};
  std::vector<float> weights(static_cast<std::size_t>(shape.numel()));
  weights[0] = 12.0F;
  weights[16] = 9.0F;
  EXPECT_EQ(quantise(weights, shape, Recipe::nvfp4).scale_codes,
            (std::vector<std::uint8_t>{126, 123}));
}

TEST(Recipes, ZerosAndInfinitiesHaveScales) {
  for (Recipe const recipe : recipes) {
    MatrixShape const shape{.rows = 128, .columns = 128};
    std::vector<float> weights(static_cast<std::size_t>(shape.numel()));
    DelayedScale delayed;
    DelayedScale* const history = recipe == Recipe::fp8_delayed ? &delayed : nullptr;
    for (float const first : {0.0F, inf, 0x1p-149F}) {
      weights[0] = first;
      auto const quantised = quantise(weights, shape, recipe, history);
      for (float const value : read(quantised, shape, recipe))
        ASSERT_FALSE(std::isnan(value)) << name_of(recipe) << " of " << first;
    }
  }
}

TEST(Recipes, TakeWholeBlocksAlone) {
  EXPECT_TRUE(takes(Recipe::fp8_current, {.rows = 3, .columns = 5}));
  EXPECT_FALSE(takes(Recipe::fp8_current, {.rows = 0, .columns = 5}));
  EXPECT_TRUE(takes(Recipe::fp8_block, {.rows = 128, .columns = 256}));
  EXPECT_FALSE(takes(Recipe::fp8_block, {.rows = 64, .columns = 128}));
  EXPECT_FALSE(takes(Recipe::mxfp8, {.rows = 16, .columns = 32})) << "both sides count";
  EXPECT_TRUE(takes(Recipe::nvfp4, {.rows = 16, .columns = 48}));
  EXPECT_EQ(scales_of(Recipe::mxfp8, {.rows = 64, .columns = 96}),
            (MatrixShape{.rows = 64, .columns = 3}));
  EXPECT_EQ(scales_of(Recipe::nvfp4, {.rows = 32, .columns = 48}),
            (MatrixShape{.rows = 2, .columns = 3}));
  EXPECT_EQ(scales_of(Recipe::fp8_delayed, {.rows = 3, .columns = 5}),
            (MatrixShape{.rows = 1, .columns = 1}));
}

}  // namespace
}  // namespace adamant::oracle
