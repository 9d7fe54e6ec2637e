#include "scenarios/engines/sim/sim_timeline.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace adamant::scenarios {

namespace {

using Kind = TimelineEvent::Kind;

constexpr Kind kind_of(sim::EventKind kind) {
  return static_cast<Kind>(kind);
}
static_assert(kind_of(sim::EventKind::host_access) == Kind::host_access);
static_assert(kind_of(sim::EventKind::kernel) == Kind::kernel);
static_assert(kind_of(sim::EventKind::collective) == Kind::collective);
static_assert(kind_of(sim::EventKind::call) == Kind::call);
static_assert(kind_of(sim::EventKind::violation) == Kind::violation);

std::string_view path_name(sim::CopyPath path) {
  switch (path) {
    case sim::CopyPath::host_to_device:
      return "host to device";
    case sim::CopyPath::device_to_host:
      return "device to host";
    case sim::CopyPath::device_to_device:
      return "device to device";
    case sim::CopyPath::none:
      break;
  }
  return "";
}

}  // namespace

int SimTimeline::add_track(Track track) {
  timeline_.tracks.push_back(std::move(track));
  return static_cast<int>(timeline_.tracks.size()) - 1;
}

// A stream of one world goes on the track of the same name of an earlier one: they never meet.
int SimTimeline::track_of(sim::Event const& event) {
  auto const [known, is_new] = track_of_.try_emplace({worlds_, event.track}, -1);
  if (!is_new) return known->second;
  bool const of_host = event.device < 0;
  Track track{.kind = of_host ? Track::Kind::host : Track::Kind::stream,
              .rank = event.rank,
              .name = of_host ? "host" : event.stream};
  auto const is_taken = [&](int number) {
    return std::any_of(track_of_.begin(), track_of_.end(), [&](auto const& each) {
      return each.first.first == worlds_ && each.second == number;
    });
  };
  for (std::size_t i = 0; i < timeline_.tracks.size() && known->second < 0; ++i)
    if (timeline_.tracks[i] == track && !is_taken(static_cast<int>(i)))
      known->second = static_cast<int>(i);
  if (known->second < 0) known->second = add_track(std::move(track));
  return known->second;
}

int SimTimeline::engine_of(sim::Event const& event) {
  std::vector<Engine>& engines = engines_[{event.rank, event.path}];
  auto engine = std::find_if(engines.begin(), engines.end(), [&](Engine const& each) {
    return each.until_ns <= begin_ns_ + event.begin_ns;
  });
  if (engine == engines.end()) {
    std::string name = "copy engine, " + std::string(path_name(event.path));
    if (!engines.empty()) name += ", " + std::to_string(engines.size() + 1);
    int const track =
        add_track({.kind = Track::Kind::copy_engine, .rank = event.rank, .name = std::move(name)});
    engine = engines.insert(engines.end(), {.track = track});
  }
  engine->until_ns = begin_ns_ + event.end_ns;
  return engine->track;
}

int SimTimeline::add(sim::Report const& report) {
  int const first = static_cast<int>(timeline_.events.size());
  int meetings = meetings_;
  for (sim::Event const& event : report.trace) {
    TimelineEvent added{.kind = kind_of(event.kind),
                        .track = track_of(event),
                        .begin_ns = begin_ns_ + event.begin_ns,
                        .end_ns = begin_ns_ + event.end_ns,
                        .name = event.name,
                        .operation = event.operation,
                        .bytes = event.bytes,
                        .unfinished = event.unfinished};
    for (std::uint32_t const before : event.after)
      added.after.push_back(first + static_cast<int>(before));
    if (event.path != sim::CopyPath::none) added.copy_engine = engine_of(event);
    if (event.meeting >= 0) added.meeting = meetings_ + event.meeting;
    meetings = std::max(meetings, added.meeting + 1);
    timeline_.events.push_back(std::move(added));
  }
  meetings_ = meetings;
  begin_ns_ += report.simulated_ns;
  ++worlds_;
  return first;
}

}  // namespace adamant::scenarios
