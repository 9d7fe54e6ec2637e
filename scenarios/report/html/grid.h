// Where a picture has which event: rows for tracks, columns for moments. Columns keep the order of
// simulated time and not its scale, so that what took 10 ns can be read beside what took 1 ms.
#pragma once

#include <string>
#include <vector>

#include "scenarios/report/html/window.h"
#include "scenarios/seam/timeline.h"

namespace adamant::scenarios {

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
