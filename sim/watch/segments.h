// Who touched which bytes of one allocation last: the last write, and the reads and atomics since,
// at byte ranges. The race checker's memory of the past.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/world/clock.h"

namespace adamant::sim {

/// One access of the past: when, and by which operation. Atomics read and write, but exclude only
/// what is not atomic.
struct Touch {
  Epoch epoch;
  std::uint32_t operation = 0;
  bool atomic = false;
};

/// The reads and atomics since the last plain write, each unless a later one of its kind covers it.
/// Two fit in place, because more are rare.
class SharedSet {
 public:
  bool empty() const { return count_ == 0; }
  void clear() {
    count_ = 0;
    more_.clear();
  }
  template <typename F>
  void for_each(F&& visit) const {
    for (std::uint32_t i = 0; i < count_ && i < in_place; ++i) visit(first_[i]);
    for (Touch const& touch : more_) visit(touch);
  }
  /// Adds one; those of its kind that happened before it are covered by it and go.
  void add(Touch const& touch, VectorClock const& clock);
  friend bool operator==(SharedSet const& a, SharedSet const& b);

 private:
  static constexpr std::uint32_t in_place = 2;
  Touch first_[in_place];
  std::uint32_t count_ = 0;
  std::vector<Touch> more_;
};

struct Segment {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Touch write;
  SharedSet shared;
};

/// All segments of one allocation, in pages, so that one page's disorder stays in it.
///
/// Invariants: 1. the segments of a page are sorted, disjoint and cover it;
///             2. two neighbours in a page differ in more than their bounds.
class Segments {
 public:
  using Conflict = std::function<void(Touch const& earlier, bool earlier_writes,
                                      std::uint64_t begin, std::uint64_t end)>;

  /// Everything written at `birth`.
  void reset(std::uint64_t bytes, Touch const& birth);

  /// Enters an access to [begin, end) and calls `conflict` for every earlier one that did not
  /// happen before `clock`, unless both read or both are atomic. `writes`: it is a plain write.
  void access(std::uint64_t begin, std::uint64_t end, bool writes, Touch const& touch,
              VectorClock const& clock, Conflict const& conflict);

 private:
  using Page = std::vector<Segment>;
  static constexpr std::uint64_t page_bytes = 4 << 10;

  void access_page(Page& page, std::uint64_t begin, std::uint64_t end, bool writes,
                   Touch const& touch, VectorClock const& clock, Conflict const& conflict);

  std::uint64_t bytes_ = 0;
  std::vector<Page> pages_;
};

}  // namespace adamant::sim
