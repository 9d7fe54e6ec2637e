// Who touched which bytes of one allocation last: the last write and the reads since, at byte
// ranges. The race checker's memory of the past.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/world/clock.h"

namespace adamant::sim {

/// One access of the past: when, and by which operation.
struct Touch {
  Epoch epoch;
  std::uint32_t operation = 0;
};

/// The reads since the last write, one for each agent that is not covered by a later one. Two fit
/// in place, because more are rare.
class ReadSet {
 public:
  bool empty() const { return count_ == 0; }
  void clear() {
    count_ = 0;
    more_.clear();
  }
  template <typename F>
  void for_each(F&& visit) const {
    for (std::uint32_t i = 0; i < count_ && i < in_place; ++i) visit(first_[i]);
    for (Touch const& read : more_) visit(read);
  }
  /// Adds a read; those that happened before it are covered by it and go.
  void add(Touch const& read, VectorClock const& clock);
  friend bool operator==(ReadSet const& a, ReadSet const& b);

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
  ReadSet reads;
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

  /// Enters an access to [begin, end) and calls `conflict` for every earlier one, of which at least
  /// one of the two writes, that did not happen before `clock`.
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
