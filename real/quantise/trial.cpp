#include "real/quantise/trial.h"

#include <algorithm>
#include <cmath>

#include "real/cuda/numbers.h"
#include "real/quantise/recipe_scales.h"

namespace adamant::real {

namespace {

void raise(float& maximum, float weight) {
  float const magnitude = std::fabs(weight);
  if (magnitude > maximum) maximum = magnitude;  // not of NaN
}

float amax_of_block(std::span<float const> weights) {
  float amax = 0;
  for (float const weight : weights) raise(amax, weight);
  return amax;
}

/// The scale of an element's block.
BlockScale scale_of_element(RecipeShape const& shape, ElementRange own,
                            std::span<float const> weights, std::span<float const> maxima,
                            std::size_t i) {
  if (shape.recipe == Recipe::fp8_delayed) return fp32_scale(DelayedScale{}.next);
  if (!joins_maxima(shape)) {
    auto const columns = static_cast<std::size_t>(block_columns(shape.recipe));
    return block_scale(shape.recipe, amax_of_block(weights.subspan(i / columns * columns, columns)),
                       0);
  }
  std::int64_t const block = block_of(shape, own.begin + static_cast<std::int64_t>(i));
  return block_scale(shape.recipe, maxima[static_cast<std::size_t>(block)], maxima.back());
}

/// What is read after a weight was quantised.
float quantised(Recipe recipe, float weight, BlockScale const& scale) {
  float const scaled = weight * scale.into;
  float const value =
      recipe == Recipe::nvfp4 ? value_of_e2m1(e2m1_code(scaled)) : value_of_e4m3(e4m3_code(scaled));
  return value * scale.back;
}

}  // namespace

std::vector<float> maxima_of(RecipeShape const& shape, ElementRange own,
                             std::span<float const> weights) {
  std::vector<float> maxima(static_cast<std::size_t>(maxima_count(shape)));
  if (maxima.empty()) return maxima;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::int64_t const block = block_of(shape, own.begin + static_cast<std::int64_t>(i));
    raise(maxima[static_cast<std::size_t>(block)], weights[i]);
    if (shape.recipe == Recipe::nvfp4) raise(maxima.back(), weights[i]);
  }
  return maxima;
}

std::size_t first_changed(RecipeShape const& shape, ElementRange own,
                          std::span<float const> weights, std::span<float const> maxima) {
  std::size_t i = 0;
  while (i < weights.size() &&
         same_number(
             quantised(shape.recipe, weights[i], scale_of_element(shape, own, weights, maxima, i)),
             weights[i]))
    ++i;
  return i;
}

}  // namespace adamant::real
