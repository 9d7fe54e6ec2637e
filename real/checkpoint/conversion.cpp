#include "real/checkpoint/conversion.h"

#include <bit>
#include <cmath>
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

bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
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

}  // namespace adamant::real
