#include "scenarios/peers/client/scaled_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/formats/small_formats.h"
#include "scenarios/judge/saved/quantised.h"
#include "scenarios/judge/saved/shard_file.h"
#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {

namespace {

using Extents = std::vector<std::int64_t>;

/// One tensor's parts in a file.
class Parts {
 public:
  Parts(TensorFile const& file, std::string const& key) : file_(file), key_(key) {}

  bool has(char const* part) const { return file_.contains(key_ + part); }

  TensorFromFile const& at(char const* part, NumberFormat format, Extents const& shape) const {
    auto const found = file_.find(key_ + part);
    if (found == file_.end())
      throw PeerError(fmt::format("its file has no tensor `{}{}`", key_, part));
    TensorFromFile const& tensor = found->second;
    if (tensor.format != format)
      refuse(part, fmt::format("is {}", dtype_of(tensor.format)), dtype_of(format));
    if (tensor.shape != shape)
      refuse(part, fmt::format("has the shape [{}]", fmt::join(tensor.shape, ", ")),
             fmt::format("[{}]", fmt::join(shape, ", ")));
    return tensor;
  }

  std::vector<float> numbers(char const* part, Extents const& shape) const {
    return numbers_in(at(part, NumberFormat::fp32, shape));
  }

  std::vector<std::uint8_t> codes(char const* part, Extents const& shape) const {
    TensorFromFile const& tensor = at(part, NumberFormat::fp8, shape);
    std::vector<std::uint8_t> codes;
    for (std::byte const code : tensor.bytes) codes.push_back(std::to_integer<std::uint8_t>(code));
    return codes;
  }

  /// What something may be divided by.
  std::vector<float> scales(char const* part, Extents const& shape) const {
    auto found = numbers(part, shape);
    for (float const scale : found)
      if (!(scale > 0) || std::isinf(scale))
        refuse(part, fmt::format("is {}", scale), "a number above 0");
    return found;
  }

  /// The largest magnitude of something, infinities included.
  std::vector<float> amaxes(char const* part, Extents const& shape) const {
    auto found = numbers(part, shape);
    for (float const amax : found)
      if (!(amax >= 0)) refuse(part, fmt::format("is {}", amax), "a number not below 0");
    return found;
  }

  /// Codes of scales: of e8m0 all but NaN, of e4m3 those that are not below 0 either.
  std::vector<std::uint8_t> scale_codes(char const* part, Extents const& shape,
                                        Recipe recipe) const {
    auto found = codes(part, shape);
    std::uint8_t const largest = recipe == Recipe::mxfp8 ? 0xfe : 0x7e;
    for (std::uint8_t const code : found)
      if (code > largest)
        refuse(part, fmt::format("is the code {}", code), fmt::format("0 to {}", largest));
    return found;
  }

  [[noreturn]] void refuse(char const* part, std::string const& found,
                           std::string_view expected) const {
    throw PeerError(fmt::format("`{}{}` {}; expected {}", key_, part, found, expected));
  }

 private:
  TensorFile const& file_;
  std::string const& key_;
};

void check_values(Parts const& parts, ScaledNumbers const& found, Extents const& shape) {
  auto const values = parts.numbers("", shape);
  std::vector<float> room;
  auto const read = values_of(
      {.format = found.raw->format, .bytes = found.raw->bytes, .scale = found.scale}, room);
  if (auto const difference = oracle::first_difference(read, values))
    parts.refuse("", fmt::format("is {:a} at element {}", difference->actual, difference->index),
                 fmt::format("raw times scale, {:a}", difference->expected));
}

/// One of each element, out of bytes that two of them share.
std::vector<std::uint8_t> unpaired(std::vector<std::uint8_t> const& pairs) {
  std::vector<std::uint8_t> codes;
  for (std::uint8_t const pair : pairs) {
    codes.push_back(pair & 0xf);
    codes.push_back(pair >> 4);
  }
  return codes;
}

void take_scales(Parts const& parts, Extents const& shape, QuantisedShard& shard) {
  bool const four_bits = shard.recipe == Recipe::nvfp4;
  if (four_bits) shard.amax = parts.amaxes("/amax", {1}).front();
  if (!four_bits && shard.recipe != Recipe::mxfp8) {
    shard.scales = parts.scales("/scale", shape);
    return;
  }
  shard.scale_codes = parts.scale_codes("/scale", shape, shard.recipe);
  for (std::uint8_t const code : shard.scale_codes)
    shard.scales.push_back(oracle::scale_of_code(shard.recipe, code, shard.amax));
}

oracle::DelayedScale delayed_in(Parts const& parts) {
  oracle::DelayedScale delayed;
  auto const history = parts.amaxes("/history", {std::ssize(delayed.history)});
  std::ranges::copy(history, delayed.history.begin());
  delayed.next = parts.scales("/next_scale", {1}).front();
  return delayed;
}

}  // namespace

std::optional<ScaledNumbers> scaled_numbers(TensorFile const& file, std::string const& key,
                                            NumberFormat format, Extents const& shape) {
  Parts const parts(file, key);
  if (!parts.has("") && !parts.has("/raw") && !parts.has("/scale")) return std::nullopt;
  ScaledNumbers const found{.raw = &parts.at("/raw", format, shape),
                            .scale = parts.scales("/scale", {1}).front()};
  check_values(parts, found, shape);
  return found;
}

std::shared_ptr<QuantisedShard const> quantised_rows(TensorFile const& file, std::string const& key,
                                                     ParameterSpec const& parameter,
                                                     Extents const& shape) {
  Parts const parts(file, key);
  ParameterSpec own = parameter;
  own.shape = shape;
  auto shard = std::make_shared<QuantisedShard>();
  Recipe const recipe = shard->recipe = parameter.formats.recipe.value();
  shard->codes = parts.codes("/raw", raw_shape(recipe, own));
  if (recipe == Recipe::nvfp4) shard->codes = unpaired(shard->codes);
  take_scales(parts, scale_shape(recipe, recipe == Recipe::mxfp8 ? own : parameter), *shard);
  if (recipe == Recipe::fp8_delayed) shard->delayed = delayed_in(parts);
  shard->values = parts.numbers("", shape);
  return shard;
}

}  // namespace adamant::scenarios
