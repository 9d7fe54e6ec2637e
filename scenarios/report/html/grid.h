// Which part of a timeline a picture of a violation shows: what it is about, what led to that, and
// what comes next; a run has thousands of events, and a picture that is read has few. And where it
// has which event: rows for tracks, columns for moments. Columns keep the order of simulated time
// and not its scale, so that what took 10 ns can be read beside what took 1 ms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/seam/result.h"
#include "scenarios/seam/timeline.h"

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

/// Units: pixels, of a font of which a character is `character_width` wide.
inline constexpr double character_width = 6.7;
inline constexpr int box_height = 24;

/// An event. Boxes of one row do not overlap.
struct Box {
  int event = 0;  // of the timeline
  int row = 0;
  int lane = 0;  // of its row: an event within another stands below it
  int x = 0;
  int width = 0;
};

/// Where events of a row are left out.
struct LeftOut {
  int row = 0;
  int lane = 0;
  int x = 0;  // the middle
  int events = 0;
};

struct Grid {
  std::vector<int> tracks = {};  // by row: of the timeline
  std::vector<int> lanes = {};   // by row: how many
  std::vector<Box> boxes = {};   // as the window's events
  std::vector<LeftOut> left_out = {};
  int width = 0;

  Box const* box_of(int event) const;
};

/// What an event is called in a picture, in a word or two.
std::string caption_of(TimelineEvent const& event);

Grid lay_out(Timeline const& timeline, Window const& window);

}  // namespace adamant::scenarios
