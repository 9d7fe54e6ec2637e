#include "real/checkpoint/conversion.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "real/checkpoint/transfer.h"
#include "real/cuda/assert.h"
#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"

namespace adamant::real {

namespace {

using Half = std::uint16_t;

Half half_at(std::span<std::byte const> bytes, std::size_t i) {
  Half half = 0;
  std::memcpy(&half, bytes.data() + i * sizeof half, sizeof half);
  return half;
}

std::vector<float> joined_values(std::span<std::byte const> upper,
                                 std::span<std::byte const> lower) {
  std::vector<float> values(lower.size() / sizeof(Half));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = joined({.parameter = half_at(upper, i), .remainder = half_at(lower, i)});
  return values;
}

std::vector<std::byte> halves_of(std::span<float const> values, Half SplitWeight::*which) {
  std::vector<std::byte> bytes(values.size() * sizeof(Half));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Half const half = split(values[i]).*which;
    std::memcpy(bytes.data() + i * sizeof half, &half, sizeof half);
  }
  return bytes;
}

template <typename T>
std::vector<T> downloaded(T const* from, std::int64_t count, Stream const& stream) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0)
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(T),
                                cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return values;
}

}  // namespace

float scale_of(StateTensor const& tensor, Stream const& stream) {
  float scale = 1;
  if (tensor.scale == nullptr) return scale;
  ADAMANT_TRY(
      cudaMemcpyAsync(&scale, tensor.scale, sizeof scale, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return scale;
}

std::vector<float> values_of(StateTensor const& tensor, float scale, std::int64_t first,
                             std::int64_t count, Stream const& stream) {
  std::vector<std::byte> const bytes = downloaded(tensor.shard, first, count, stream);
  if (tensor.shard.format != NumberFormat::remainder)
    return decoded(bytes, tensor.shard.format, scale);
  return joined_values(downloaded(tensor.upper.value(), first, count, stream), bytes);
}

QuantisedValues::QuantisedValues(StateTensor const& tensor, Stream const& stream)
    : view_(tensor.quantised.value()), stream_(stream) {
  RecipeShape const& shape = view_.shape;
  std::int64_t const codes = has_scales_beside(shape)
                                 ? scale_codes_beside(shape.recipe, tensor.shard.numel())
                                 : scale_code_count(shape);
  scales_ = downloaded(view_.scales, scale_count(shape), stream);
  scale_codes_ = downloaded(view_.scale_codes, codes, stream);
}

std::vector<float> QuantisedValues::values(std::int64_t first, std::int64_t count) const {
  Recipe const recipe = view_.shape.recipe;
  std::vector<std::uint8_t> const codes =
      downloaded(view_.codes + code_bytes(recipe, first), code_bytes(recipe, count), stream_);
  std::int64_t const scales_before =
      has_scales_beside(view_.shape) ? scale_codes_beside(recipe, first) : 0;
  QuantisedView const here{.shape = view_.shape,
                           .begin = view_.begin + first,
                           .codes = codes.data(),
                           .scales = scales_.data(),
                           .scale_codes = scale_codes_.data() + scales_before};
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values.push_back(value_at(here, here.begin + i));
  return values;
}

std::vector<std::byte> stored_as(StateTensor const& tensor, std::span<float const> values,
                                 float scale) {
  if (tensor.is_upper) return halves_of(values, &SplitWeight::parameter);
  if (tensor.upper) return halves_of(values, &SplitWeight::remainder);
  return encoded(values, tensor.shard.format, scale);
}

std::size_t first_rounded(StateTensor const& tensor, std::span<float const> values, float scale) {
  std::vector<float> const kept =
      decoded(stored_as(tensor, values, scale), tensor.shard.format, scale);
  std::size_t i = 0;
  while (i < values.size() && same_number(kept[i], values[i])) ++i;
  return i;
}

std::string hexadecimal(float value) {
  std::array<char, 32> text = {};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%a", static_cast<double>(value)));
  return text.data();
}

}  // namespace adamant::real
