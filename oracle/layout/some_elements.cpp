#include "oracle/layout/some_elements.h"

#include <algorithm>
#include <utility>

#include "oracle/check.h"
#include "oracle/quantise/recipes.h"

namespace adamant::oracle {

namespace {

using Part = SomeElements::Part;
using Ranges = std::vector<ElementRange>;

Ranges joined(Ranges ranges) {
  std::ranges::sort(ranges, {}, &ElementRange::begin);
  Ranges all;
  for (ElementRange const range : ranges) {
    if (!all.empty() && all.back().end == range.begin)
      all.back().end = range.end;
    else
      all.push_back(range);
  }
  return all;
}

/// Those that share a scale with an element by a parameter's recipe, and whether they come last.
struct Block {
  Ranges elements = {};
  bool last = false;
};

Block block_of(std::int64_t element, ParameterSpec const& spec) {
  auto const shape = matrix_of(spec);
  auto const scales = scales_of(*spec.formats.recipe, shape);
  std::int64_t const height = shape.rows / scales.rows;
  std::int64_t const width = shape.columns / scales.columns;
  std::int64_t const row = element / shape.columns / height * height;
  std::int64_t const column = element % shape.columns / width * width;
  Ranges rows;
  for (std::int64_t r = row; r < row + height; ++r)
    rows.push_back(
        {.begin = r * shape.columns + column, .end = r * shape.columns + column + width});
  return {.elements = joined(rows), .last = rows.back().end == shape.numel()};
}

/// The ranks that hold any of the elements; nothing where they hold others, too.
std::vector<int> all_of_ranks(Ranges const& elements, Whereabouts const& of, Layout const* layout) {
  if (layout == nullptr) return {};
  std::vector<int> ranks = layout->holders_of(elements, of.parameter, of.kind);
  std::int64_t held = 0;
  for (int const rank : ranks) held += numel_of(layout->ranges(of.parameter, rank, of.kind));
  return held == numel_of(elements) ? ranks : std::vector<int>();
}

/// The ranks that hold any of the elements; nothing where all do that hold any of the tensor.
std::vector<int> some_of_ranks(Ranges const& elements, Whereabouts const& of) {
  if (of.now == nullptr) return {};
  Ranges const all = {{.begin = 0, .end = of.spec.numel()}};
  auto const holding = [&](Ranges const& any) {
    return of.now->holders_of(any, of.parameter, of.kind);
  };
  std::vector<int> ranks = holding(elements);
  return ranks == holding(all) ? std::vector<int>() : ranks;
}

}  // namespace

SomeElements some_elements(std::vector<ElementRange> elements, Whereabouts const& of) {
  check(!elements.empty(), "there are elements");
  elements = joined(std::move(elements));
  SomeElements some{.ranges = elements, .count = numel_of(elements)};
  if (some.ranges.size() > SomeElements::ranges_kept) some.ranges.resize(SomeElements::ranges_kept);
  if (some.count == of.spec.numel()) {
    some.part = Part::whole;
    return some;
  }
  for (auto const& [part, layout] :
       {std::pair(Part::shards, of.now), std::pair(Part::saved_shards, of.saved)}) {
    some.ranks = all_of_ranks(elements, of, layout);
    some.part = part;
    if (!some.ranks.empty()) return some;
  }
  some.part = Part::some;
  some.ranks = some_of_ranks(elements, of);
  if (of.kind != TensorKind::parameter || !of.spec.formats.recipe) return some;
  Block const block = block_of(elements.front().begin, of.spec);
  if (block.elements == elements) some.part = block.last ? Part::last_block : Part::block;
  return some;
}

}  // namespace adamant::oracle
