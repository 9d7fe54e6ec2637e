#include "sim/watch/segments.h"

#include <algorithm>

#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

bool same(Touch const& a, Touch const& b) {
  return a.epoch.agent == b.epoch.agent && a.epoch.time == b.epoch.time &&
         a.operation == b.operation && a.atomic == b.atomic;
}

bool same_past(Segment const& a, Segment const& b) {
  return same(a.write, b.write) && a.shared == b.shared;
}

// Reports what is not ordered before, then makes the segment remember the access.
void enter(Segment& segment, bool writes, Touch const& touch, VectorClock const& clock,
           Segments::Conflict const& conflict) {
  if (!segment.write.epoch.before(clock)) {
    conflict(segment.write, true, segment.begin, segment.end);
  }
  segment.shared.for_each([&](Touch const& earlier) {
    bool const excluded = writes || earlier.atomic != touch.atomic;
    if (!excluded || earlier.epoch.before(clock)) return;
    conflict(earlier, earlier.atomic, segment.begin, segment.end);
  });
  if (!writes) return segment.shared.add(touch, clock);
  segment.write = touch;
  segment.shared.clear();
}

// Cuts the segment that covers `at` in two, so that one begins there.
std::size_t cut(std::vector<Segment>& page, std::size_t index, std::uint64_t at) {
  if (page[index].begin == at) return index;
  Segment right = page[index];
  right.begin = at;
  page[index].end = at;
  page.insert(page.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(right));
  return index + 1;
}

// Joins equal neighbours between `first` and `last`, both included.
void join(std::vector<Segment>& page, std::size_t first, std::size_t last) {
  std::size_t kept = first;
  for (std::size_t i = first + 1; i <= last; ++i) {
    if (same_past(page[kept], page[i])) {
      page[kept].end = page[i].end;
    } else if (++kept != i) {
      page[kept] = std::move(page[i]);
    }
  }
  if (kept < last) {
    page.erase(page.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
               page.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  }
}

}  // namespace

void SharedSet::add(Touch const& touch, VectorClock const& clock) {
  SharedSet kept;
  for_each([&](Touch const& earlier) {
    if (earlier.atomic == touch.atomic && earlier.epoch.before(clock)) return;
    if (kept.count_ < in_place) {
      kept.first_[kept.count_] = earlier;
    } else {
      kept.more_.push_back(earlier);
    }
    ++kept.count_;
  });
  if (kept.count_ < in_place) {
    kept.first_[kept.count_] = touch;
  } else {
    kept.more_.push_back(touch);
  }
  ++kept.count_;
  *this = std::move(kept);
}

bool operator==(SharedSet const& a, SharedSet const& b) {
  if (a.count_ != b.count_) return false;
  for (std::uint32_t i = 0; i < a.count_ && i < SharedSet::in_place; ++i) {
    if (!same(a.first_[i], b.first_[i])) return false;
  }
  return std::equal(a.more_.begin(), a.more_.end(), b.more_.begin(), b.more_.end(), same);
}

void Segments::reset(std::uint64_t bytes, Touch const& birth) {
  bytes_ = bytes;
  pages_.resize((bytes + page_bytes - 1) / page_bytes);
  for (std::size_t p = 0; p < pages_.size(); ++p) {
    std::uint64_t const begin = p * page_bytes;
    pages_[p].resize(1);
    Segment& whole = pages_[p].front();
    whole.begin = begin;
    whole.end = std::min(begin + page_bytes, bytes);
    whole.write = birth;
    whole.shared.clear();
  }
}

void Segments::access(std::uint64_t begin, std::uint64_t end, bool writes, Touch const& touch,
                      VectorClock const& clock, Conflict const& conflict) {
  ADAMANT_SIM_ASSERT(begin < end);
  ADAMANT_SIM_ASSERT(end <= bytes_);
  for (std::uint64_t p = begin / page_bytes; p * page_bytes < end; ++p) {
    access_page(pages_[p], std::max(begin, p * page_bytes), std::min(end, (p + 1) * page_bytes),
                writes, touch, clock, conflict);
  }
}

void Segments::access_page(Page& page, std::uint64_t begin, std::uint64_t end, bool writes,
                           Touch const& touch, VectorClock const& clock, Conflict const& conflict) {
  auto const at = std::upper_bound(page.begin(), page.end(), begin,
                                   [](std::uint64_t b, Segment const& s) { return b < s.end; });
  std::size_t const first = cut(page, static_cast<std::size_t>(at - page.begin()), begin);
  std::size_t last = first;
  for (;; ++last) {
    if (page[last].end > end) cut(page, last, end);
    enter(page[last], writes, touch, clock, conflict);
    if (page[last].end == end) break;
  }
  join(page, first == 0 ? 0 : first - 1, std::min(last + 1, page.size() - 1));
}

}  // namespace adamant::sim
