// Which part of a timeline a picture of a violation shows: what it is about, what led to that, and
// what comes next. A run has thousands of events; a picture that is read has few.
#pragma once

#include <cstddef>
#include <vector>

#include "scenarios/seam/result.h"

namespace adamant::scenarios {

inline constexpr std::size_t window_events_max = 24;  // operations of the program besides
inline constexpr std::size_t window_tracks_max = 10;

struct Window {
  std::vector<int> events = {};  // of the timeline, ascending
  std::vector<int> marked = {};  // of these: what the violation is about, in the order of accesses
};

/// At most `events_max` events, the nearest to what the violation is about. Empty where the
/// timeline has nothing of that.
Window window_of(Timeline const& timeline, Violation const& violation, std::size_t events_max);

}  // namespace adamant::scenarios
