// The traces of a run's worlds as one timeline: worlds follow one another, a copy gets the track of
// a copy engine beside that of its stream.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scenarios/seam/timeline.h"
#include "sim/sim.h"

namespace adamant::scenarios {

class SimTimeline {
 public:
  /// Adds the next world, which begins where the last one ended; gives the number of its first
  /// event.
  int add(sim::Report const& report);
  Timeline take() { return std::move(timeline_); }

 private:
  /// A copy engine that was busy until then.
  struct Engine {
    int track = 0;
    std::uint64_t until_ns = 0;
  };

  int track_of(sim::Event const& event);
  int engine_of(sim::Event const& event);
  int add_track(Track track);

  Timeline timeline_;
  std::uint64_t begin_ns_ = 0;  // of this world
  int worlds_ = 0;
  int meetings_ = 0;
  std::map<std::pair<int, std::uint32_t>, int> track_of_;  // by world and its own number
  std::map<std::pair<int, sim::CopyPath>, std::vector<Engine>> engines_;  // by rank and path
};

}  // namespace adamant::scenarios
