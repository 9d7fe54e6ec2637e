// How several processes share what has numbers: cases, scenarios, bugs.
#pragma once

#include <cstdint>

namespace adamant::scenarios {

inline constexpr std::uint64_t shards_max = 1'000'000;

/// One of several disjoint parts of what a call goes through.
struct Portion {
  std::uint64_t index = 0;
  std::uint64_t count = 1;

  bool holds(std::uint64_t position) const { return position % count == index; }
  /// The first position from `begin` on that it holds.
  std::uint64_t first_from(std::uint64_t begin) const {
    return begin + (index + count - begin % count) % count;
  }
  /// How many of [begin, begin + length) it holds.
  std::uint64_t count_in(std::uint64_t begin, std::uint64_t length) const {
    std::uint64_t const skipped = first_from(begin) - begin;
    return length <= skipped ? 0 : (length - skipped + count - 1) / count;
  }
};

}  // namespace adamant::scenarios
