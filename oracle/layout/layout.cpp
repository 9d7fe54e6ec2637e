#include "oracle/layout/layout.h"

#include <algorithm>

#include "oracle/check.h"
#include "oracle/layout/fsdp2.h"

namespace adamant::oracle {

Layout::Layout(int world_size) : world_size_(static_cast<std::size_t>(world_size)) {
  check(world_size >= 1, "a world has a rank");
}

void Layout::add(std::span<ElementRange const> owned) {
  std::int64_t end = 0;
  for (ElementRange const range : owned) {
    check(end <= range.begin, "ranges ascend and do not overlap");
    check(range.begin <= range.end, "a range has no negative length");
    end = range.end;
  }
  ranges_.insert(ranges_.end(), owned.begin(), owned.end());
  ends_.push_back(ranges_.size());
}

std::span<ElementRange const> Layout::ranges(int parameter, int rank) const {
  check(parameter >= 0 && rank >= 0, "parameters and ranks count from 0");
  auto const at =
      static_cast<std::size_t>(parameter) * world_size_ + static_cast<std::size_t>(rank);
  check(static_cast<std::size_t>(rank) < world_size_, "a rank is in its world");
  check(at < ends_.size(), "the parameter is laid out");
  std::size_t const begin = at == 0 ? 0 : ends_[at - 1];
  return std::span(ranges_).subspan(begin, ends_[at] - begin);
}

int Layout::owner(int parameter, std::int64_t element) const {
  int rank = 0;
  auto const owns = [&](ElementRange const& range) {
    return range.begin <= element && element < range.end;
  };
  while (!std::ranges::any_of(ranges(parameter, rank), owns)) ++rank;
  return rank;
}

Layout lay_out(LayoutKind kind, std::span<ParameterSpec const> parameters, int world_size) {
  check(kind == LayoutKind::fsdp2, "other layouts are refused");
  Layout layout(world_size);
  for (ParameterSpec const& parameter : parameters) {
    for (int rank = 0; rank < world_size; ++rank) {
      ElementRange const owned = fsdp2_range(parameter, {.rank = rank, .world_size = world_size});
      layout.add({&owned, 1});
    }
  }
  return layout;
}

}  // namespace adamant::oracle
