// A stretch of addresses, to tell cheaply that something lies nowhere near what is watched.
#pragma once

#include <algorithm>
#include <cstdint>

namespace adamant::sim {

struct Span {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  // as `begin`: empty

  bool meets(std::uintptr_t address, std::uint64_t bytes) const {
    return address < end && begin < address + bytes;
  }
  /// Grows until it holds the other one, too.
  void join(Span other) {
    if (other.begin == other.end) return;
    begin = begin == end ? other.begin : std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

}  // namespace adamant::sim
