// Allocations by where they begin, for one slot of the region: few, looked up at every access that
// leaves the allocation before, and iterated in the order of addresses. A sorted array is faster
// than a tree and keeps its storage for the next world.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace adamant::sim {

struct Allocation;

class Places {
 public:
  struct Entry {
    std::uint64_t begin = 0;
    Allocation* allocation = nullptr;
  };

  /// What was known at `begin` before is not any more.
  void put(std::uint64_t begin, Allocation* allocation) {
    auto const at = from(begin);
    if (at != entries_.end() && at->begin == begin) {
      at->allocation = allocation;
    } else {
      entries_.insert(at, {begin, allocation});
    }
  }
  void remove(std::uint64_t begin) {
    auto const at = from(begin);
    if (at != entries_.end() && at->begin == begin) entries_.erase(at);
  }
  void clear() { entries_.clear(); }

  Allocation* at(std::uint64_t begin) const {
    auto const found = std::lower_bound(entries_.begin(), entries_.end(), begin, before);
    return found != entries_.end() && found->begin == begin ? found->allocation : nullptr;
  }
  /// The last that begins at the offset or below; null if there is none.
  Allocation* at_or_below(std::uint64_t offset) const {
    auto const after = std::lower_bound(entries_.begin(), entries_.end(), offset + 1, before);
    return after == entries_.begin() ? nullptr : (after - 1)->allocation;
  }

  /// The first that begins above the offset; null if there is none.
  Allocation* above(std::uint64_t offset) const {
    auto const after = std::lower_bound(entries_.begin(), entries_.end(), offset + 1, before);
    return after == entries_.end() ? nullptr : after->allocation;
  }

  std::size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  static bool before(Entry const& entry, std::uint64_t begin) { return entry.begin < begin; }
  std::vector<Entry>::iterator from(std::uint64_t begin) {
    return std::lower_bound(entries_.begin(), entries_.end(), begin, before);
  }

  std::vector<Entry> entries_;
};

}  // namespace adamant::sim
