#include "scenarios/engines/quantised_shard.h"

#include <utility>

#include "oracle/formats/small_formats.h"

namespace adamant::scenarios {

namespace {

using oracle::MatrixShape;

template <typename T>
std::vector<T> copied(T const* from, std::int64_t count, CopyToHost const& copy) {
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0) copy(values.data(), from, values.size() * sizeof(T));
  return values;
}

MatrixShape matrix(real::RecipeShape const& shape, std::int64_t numel) {
  return {.rows = numel / shape.columns, .columns = shape.columns};
}

/// One of each element, out of bytes that two of them may share.
std::vector<std::uint8_t> codes_of(real::QuantisedView const& view, std::int64_t numel,
                                   CopyToHost const& copy) {
  if (view.shape.recipe != Recipe::nvfp4) return copied(view.codes, numel, copy);
  std::vector<std::uint8_t> codes;
  for (std::uint8_t const two : copied(view.codes, numel / 2, copy)) {
    codes.push_back(two & 0xf);
    codes.push_back(two >> 4);
  }
  return codes;
}

oracle::DelayedScale delayed_of(real::QuantisedView const& view, CopyToHost const& copy) {
  oracle::DelayedScale delayed;
  if (view.delayed == nullptr) return delayed;
  real::DelayedScale seen;
  copy(&seen, view.delayed, sizeof seen);
  delayed.next = seen.next;
  for (std::size_t i = 0; i < delayed.history.size(); ++i) delayed.history[i] = seen.history[i];
  return delayed;
}

/// Scales, or what they are made of, of as many elements: of mxfp8 the rank's, else all.
void read_scales(real::QuantisedView const& view, std::int64_t numel, CopyToHost const& copy,
                 QuantisedShard& shard) {
  Recipe const recipe = view.shape.recipe;
  bool const own = recipe == Recipe::mxfp8;
  MatrixShape const covered = matrix(view.shape, own ? numel : view.shape.numel);
  std::int64_t const count = oracle::scales_of(recipe, covered).numel();
  if (recipe == Recipe::nvfp4) shard.amax = copied(view.scales, 1, copy).front();
  if (view.scale_codes == nullptr) {
    shard.scales = copied(view.scales, count, copy);
    return;
  }
  shard.scale_codes = copied(view.scale_codes, count, copy);
  for (std::uint8_t const code : shard.scale_codes)
    shard.scales.push_back(oracle::scale_of_code(recipe, code, shard.amax));
}

/// The block of an element of the shard among those whose scales it has.
std::size_t block_of(real::QuantisedView const& view, std::int64_t i) {
  Recipe const recipe = view.shape.recipe;
  std::int64_t const element = recipe == Recipe::mxfp8 ? i : view.begin + i;
  MatrixShape const whole = matrix(view.shape, view.shape.numel);
  MatrixShape const blocks = oracle::scales_of(recipe, whole);
  std::int64_t const row = element / whole.columns / (whole.rows / blocks.rows);
  std::int64_t const column = element % whole.columns / (whole.columns / blocks.columns);
  return static_cast<std::size_t>(row * blocks.columns + column);
}

}  // namespace

std::shared_ptr<QuantisedShard const> quantised_shard(real::QuantisedView const& view,
                                                      std::int64_t numel, CopyToHost const& copy) {
  auto shard = std::make_shared<QuantisedShard>();
  shard->recipe = view.shape.recipe;
  shard->codes = codes_of(view, numel, copy);
  read_scales(view, numel, copy, *shard);
  shard->delayed = delayed_of(view, copy);
  auto const format =
      view.shape.recipe == Recipe::nvfp4 ? oracle::SmallFormat::e2m1 : oracle::SmallFormat::e4m3;
  for (std::size_t i = 0; i < shard->codes.size(); ++i) {
    float const scale = shard->scales[block_of(view, static_cast<std::int64_t>(i))];
    shard->values.push_back(oracle::value_of(shard->codes[i], format) * scale);
  }
  return shard;
}

void show(std::shared_ptr<QuantisedShard const> quantised, Shard& shard) {
  shard.format = NumberFormat::fp32;
  shard.bytes = std::as_bytes(std::span(quantised->values));
  shard.quantised = std::move(quantised);
}

}  // namespace adamant::scenarios
