// A shard's numbers beside the elements that they are of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Those elements of a whole tensor.
inline std::span<float const> elements_of(std::span<float const> whole, ElementRange range) {
  return whole.subspan(static_cast<std::size_t>(range.begin),
                       static_cast<std::size_t>(range.numel()));
}

/// Calls visit(range, values) for each range of a shard; `room` as values_of() wants it.
///
/// REQUIRES: it has a number for each of its elements.
template <typename Visit>
void for_each_range(Shard const& shard, std::vector<float>& room, Visit const& visit) {
  auto values = values_of(shard, room);
  for (ElementRange const range : shard.ranges) {
    auto const numel = static_cast<std::size_t>(range.numel());
    visit(range, values.first(numel));
    values = values.subspan(numel);
  }
}

/// Copies a shard's numbers to where they are in the whole tensor. REQUIRES: as above.
inline void put_in_place(Shard const& shard, std::vector<float>& whole) {
  std::vector<float> room;
  for_each_range(shard, room, [&](ElementRange range, std::span<float const> values) {
    std::ranges::copy(values, whole.begin() + range.begin);
  });
}

}  // namespace adamant::scenarios
