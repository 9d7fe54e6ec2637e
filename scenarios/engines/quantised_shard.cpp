#include "scenarios/engines/quantised_shard.h"

#include <algorithm>
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

MatrixShape matrix(real::RecipeShape const& shape) {
  return {.rows = shape.numel / shape.columns, .columns = shape.columns};
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

/// Which blocks' scales a shard has: where they are beside its codes, those of its rows, else all.
struct Blocks {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Blocks blocks_of(real::QuantisedView const& view, std::int64_t numel) {
  std::int64_t const all = oracle::scales_of(view.shape.recipe, matrix(view.shape)).numel();
  if (!has_scales_beside(view.shape)) return {.first = 0, .count = all};
  std::int64_t const covered = view.shape.numel / all;  // of one row, one after the other
  return {.first = view.begin / covered, .count = numel / covered};
}

void read_scales(real::QuantisedView const& view, Blocks blocks, CopyToHost const& copy,
                 QuantisedShard& shard) {
  Recipe const recipe = view.shape.recipe;
  if (recipe == Recipe::nvfp4) shard.amax = copied(view.scales, 1, copy).front();
  if (view.scale_codes == nullptr) {
    shard.scales = copied(view.scales, blocks.count, copy);
    return;
  }
  shard.scale_codes = copied(view.scale_codes, blocks.count, copy);
  for (std::uint8_t const code : shard.scale_codes)
    shard.scales.push_back(oracle::scale_of_code(recipe, code, shard.amax));
}

/// What the codes stand for, in runs that share a row and a block.
std::vector<float> values_of(QuantisedShard const& shard, real::QuantisedView const& view,
                             Blocks here) {
  MatrixShape const whole = matrix(view.shape);
  MatrixShape const blocks = oracle::scales_of(view.shape.recipe, whole);
  std::int64_t const rows = whole.rows / blocks.rows;  // of a block
  std::int64_t const columns = whole.columns / blocks.columns;
  auto const format =
      view.shape.recipe == Recipe::nvfp4 ? oracle::SmallFormat::e2m1 : oracle::SmallFormat::e4m3;
  auto const count = std::ssize(shard.codes);
  std::vector<float> values(shard.codes.size());
  for (std::int64_t i = 0; i < count;) {
    std::int64_t const row = (view.begin + i) / whole.columns;
    std::int64_t const column = (view.begin + i) % whole.columns;
    std::int64_t const end = std::min(count, i + columns - column % columns);
    std::int64_t const block = row / rows * blocks.columns + column / columns - here.first;
    float const scale = shard.scales[static_cast<std::size_t>(block)];
    for (; i < end; ++i) {
      auto const at = static_cast<std::size_t>(i);
      values[at] = oracle::value_of(shard.codes[at], format) * scale;
    }
  }
  return values;
}

}  // namespace

std::shared_ptr<QuantisedShard const> quantised_shard(real::QuantisedView const& view,
                                                      std::int64_t numel, CopyToHost const& copy) {
  auto shard = std::make_shared<QuantisedShard>();
  shard->recipe = view.shape.recipe;
  shard->codes = codes_of(view, numel, copy);
  Blocks const blocks = blocks_of(view, numel);
  read_scales(view, blocks, copy, *shard);
  shard->delayed = delayed_of(view, copy);
  shard->values = values_of(*shard, view, blocks);
  return shard;
}

void show(std::shared_ptr<QuantisedShard const> quantised, Shard& shard) {
  shard.format = NumberFormat::fp32;
  shard.bytes = std::as_bytes(std::span(quantised->values));
  shard.quantised = std::move(quantised);
}

}  // namespace adamant::scenarios
