// Who can go on, in the order of becoming able to. With a thousand ranks there are thousands, and
// each of them is taken out again: what stands before or behind the one that is taken moves up,
// whichever is less, so that the oldest costs nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

class ReadyList {
 public:
  std::span<Candidate* const> all() const { return std::span(list_).subspan(first_); }
  bool empty() const { return first_ == list_.size(); }

  void add(Candidate& candidate) {
    // Room that is taken back from the front costs each of those that left it less than one move.
    if (list_.size() == list_.capacity() && first_ >= list_.size() - first_) close_gap();
    list_.push_back(&candidate);
  }
  /// REQUIRES: there are more than `place` of them.
  Candidate& take(std::uint32_t place) {
    auto const taken = list_.begin() + static_cast<std::ptrdiff_t>(first_ + place);
    Candidate& candidate = **taken;
    if (place < all().size() / 2) {
      auto const begin = list_.begin() + static_cast<std::ptrdiff_t>(first_++);
      std::move_backward(begin, taken, taken + 1);
    } else {
      list_.erase(taken);
      if (empty()) clear();
    }
    return candidate;
  }
  template <typename Predicate>
  void erase_if(Predicate const& predicate) {
    close_gap();
    std::erase_if(list_, predicate);
  }
  void clear() {
    list_.clear();
    first_ = 0;
  }

 private:
  void close_gap() {
    list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  std::vector<Candidate*> list_;
  std::size_t first_ = 0;  // those before it were taken
};

}  // namespace adamant::sim
