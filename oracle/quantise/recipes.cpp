#include "oracle/quantise/recipes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "oracle/check.h"
#include "oracle/formats/small_formats.h"

namespace adamant::oracle {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();
constexpr float largest_e4m3 = 448.0F;
constexpr float largest_nvfp4 = 2688.0F;  // 6 times 448: an element's times its scale's

/// Rows and columns that one scale covers; 0 for all.
MatrixShape block_of(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return {.rows = 128, .columns = 128};
    case Recipe::mxfp8:
      return {.rows = 1, .columns = 32};
    case Recipe::nvfp4:
      return {.rows = 16, .columns = 16};
    default:
      return {};
  }
}

/// Both sides have to be multiples of it.
std::int64_t multiple_of(Recipe recipe) {
  return std::max<std::int64_t>(block_of(recipe).columns, 1);
}

float larger_magnitude(float amax, float x) {
  return std::isnan(x) ? amax : std::max(amax, std::fabs(x));
}

/// The scale that brings `amax` to `range`: 1 where there is none to bring.
float scale_to(float range, float amax) {
  if (amax == 0.0F || std::isinf(amax)) return 1.0F;
  return std::min(range / amax, largest_float);
}

float without_mantissa(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xff800000U);
}

/// What elements of a block are multiplied by before they are rounded, and after.
struct BlockScale {
  float into = 1.0F;
  float back = 1.0F;
  std::uint8_t code = 0;  // of `back`, where the recipe keeps one
};

BlockScale fp32_scale(float s) {
  return {.into = s, .back = 1.0F / s};
}

BlockScale mxfp8_scale(float amax) {
  constexpr float inverse = 1.0F / largest_e4m3;
  std::uint8_t const code = e8m0_not_below(amax * inverse);
  return {.into = std::ldexp(1.0F, 127 - code), .back = value_of_e8m0(code), .code = code};
}

BlockScale nvfp4_scale(float block_amax, float tensor_amax) {
  constexpr float sixth = 1.0F / 6.0F;
  float const s = scale_to(largest_nvfp4, tensor_amax);
  std::uint8_t const code = code_of(block_amax * (s * sixth), SmallFormat::e4m3);
  float const back = scale_of_code(Recipe::nvfp4, code, tensor_amax);
  return {.into = std::min(1.0F / back, largest_float), .back = back, .code = code};
}

/// Uses the scale that earlier amaxes gave, and derives the next one's.
BlockScale moved_on(DelayedScale& delayed, float amax) {
  BlockScale const used = fp32_scale(delayed.next);
  std::rotate(delayed.history.begin(), delayed.history.begin() + 1, delayed.history.end());
  delayed.history.back() = amax;
  float const largest = *std::max_element(delayed.history.begin(), delayed.history.end());
  if (largest > 0.0F && std::isfinite(largest)) delayed.next = scale_to(largest_e4m3, largest);
  return used;
}

class Quantisation {
 public:
  Quantisation(std::span<float const> weights, MatrixShape shape, Recipe recipe)
      : weights_(weights), shape_(shape), recipe_(recipe), block_(block_of(recipe)) {
    if (block_.rows == 0) block_ = shape;
    for (float const x : weights_) result_.amax = larger_magnitude(result_.amax, x);
    result_.codes.resize(weights.size());
  }

  Quantised run(DelayedScale* delayed) {
    for (std::int64_t row = 0; row < shape_.rows; row += block_.rows)
      for (std::int64_t column = 0; column < shape_.columns; column += block_.columns) {
        BlockScale const scale = scale_at(row, column, delayed);
        result_.scales.push_back(scale.back);
        if (keeps_codes()) result_.scale_codes.push_back(scale.code);
        encode(row, column, scale.into);
      }
    return std::move(result_);
  }

 private:
  bool keeps_codes() const { return recipe_ == Recipe::mxfp8 || recipe_ == Recipe::nvfp4; }

  BlockScale scale_at(std::int64_t row, std::int64_t column, DelayedScale* delayed) const {
    switch (recipe_) {
      case Recipe::fp8_delayed:
        return moved_on(*delayed, result_.amax);
      case Recipe::fp8_current:
        return fp32_scale(scale_to(largest_e4m3, result_.amax));
      case Recipe::fp8_block:
        return fp32_scale(without_mantissa(scale_to(largest_e4m3, amax_at(row, column))));
      case Recipe::mxfp8:
        return mxfp8_scale(amax_at(row, column));
      case Recipe::nvfp4:
        break;
    }
    return nvfp4_scale(amax_at(row, column), result_.amax);
  }

  template <typename Visit>
  void each_of_block(std::int64_t row, std::int64_t column, Visit const& visit) const {
    for (std::int64_t r = row; r < row + block_.rows; ++r)
      for (std::int64_t c = column; c < column + block_.columns; ++c)
        visit(static_cast<std::size_t>(r * shape_.columns + c));
  }

  float amax_at(std::int64_t row, std::int64_t column) const {
    float amax = 0.0F;
    each_of_block(row, column, [&](std::size_t i) { amax = larger_magnitude(amax, weights_[i]); });
    return amax;
  }

  void encode(std::int64_t row, std::int64_t column, float into) {
    SmallFormat const format = recipe_ == Recipe::nvfp4 ? SmallFormat::e2m1 : SmallFormat::e4m3;
    each_of_block(row, column,
                  [&](std::size_t i) { result_.codes[i] = code_of(weights_[i] * into, format); });
  }

  std::span<float const> weights_;
  MatrixShape shape_;
  Recipe recipe_;
  MatrixShape block_;
  Quantised result_;
};

}  // namespace

MatrixShape matrix_of(ParameterSpec const& parameter) {
  check(parameter.shape.size() >= 2, "a matrix has rows and columns");
  std::int64_t const columns = parameter.shape.back();
  return {.rows = columns == 0 ? 0 : parameter.numel() / columns, .columns = columns};
}

bool takes(Recipe recipe, MatrixShape shape) {
  std::int64_t const multiple = multiple_of(recipe);
  return shape.numel() > 0 && shape.rows % multiple == 0 && shape.columns % multiple == 0;
}

MatrixShape scales_of(Recipe recipe, MatrixShape shape) {
  MatrixShape const block = block_of(recipe);
  if (block.rows == 0) return {.rows = 1, .columns = 1};
  return {.rows = shape.rows / block.rows, .columns = shape.columns / block.columns};
}

Quantised quantise(std::span<float const> weights, MatrixShape shape, Recipe recipe,
                   DelayedScale* delayed) {
  check(takes(recipe, shape), "a shape that the recipe takes");
  check(static_cast<std::int64_t>(weights.size()) == shape.numel(), "a weight for every element");
  check((delayed != nullptr) == (recipe == Recipe::fp8_delayed), "a history, of its recipe alone");
  return Quantisation(weights, shape, recipe).run(delayed);
}

float scale_of_code(Recipe recipe, std::uint8_t code, float amax) {
  check(recipe == Recipe::mxfp8 || recipe == Recipe::nvfp4, "a recipe with scale codes");
  if (recipe == Recipe::mxfp8) return value_of_e8m0(code);
  return value_of(code, SmallFormat::e4m3) * (1.0F / scale_to(largest_nvfp4, amax));
}

std::vector<float> read(Quantised const& quantised, MatrixShape shape, Recipe recipe) {
  MatrixShape const blocks = scales_of(recipe, shape);
  SmallFormat const format = recipe == Recipe::nvfp4 ? SmallFormat::e2m1 : SmallFormat::e4m3;
  std::vector<float> values(quantised.codes.size());
  for (std::int64_t i = 0; i < shape.numel(); ++i) {
    std::int64_t const row = i / shape.columns * blocks.rows / shape.rows;
    std::int64_t const column = i % shape.columns * blocks.columns / shape.columns;
    auto const at = static_cast<std::size_t>(i);
    float const scale = quantised.scales[static_cast<std::size_t>(row * blocks.columns + column)];
    values[at] = value_of(quantised.codes[at], format) * scale;
  }
  return values;
}

}  // namespace adamant::oracle
