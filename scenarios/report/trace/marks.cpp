#include "scenarios/report/trace/marks.h"

namespace adamant::scenarios {

namespace {

using Kind = TimelineEvent::Kind;

/// The last of what the violation's rank did in its operation; outside of all, the last of all.
int last_of(Violation const& violation, Timeline const& timeline) {
  for (std::size_t i = timeline.events.size(); i-- > 0;) {
    TimelineEvent const& event = timeline.events[i];
    Track const& track = timeline.tracks[static_cast<std::size_t>(event.track)];
    if (track.rank != violation.rank || track.kind != Track::Kind::host) continue;
    bool const is_its_span =
        event.kind == Kind::program_operation && event.operation == violation.operation;
    if (is_its_span || (violation.operation < 0 && event.kind == Kind::call))
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

bool has_simulated_time(std::string_view engine) {
  return engine == "sim" || engine == "sim-unchecked";
}

std::vector<int> events_of(Violation const& violation, Timeline const& timeline) {
  std::vector<int> events;
  for (Access const& access : violation.accesses)
    if (access.event >= 0) events.push_back(static_cast<int>(access.event));
  if (!events.empty()) return events;
  int const own =
      violation.event >= 0 ? static_cast<int>(violation.event) : last_of(violation, timeline);
  if (own >= 0) events.push_back(own);
  return events;
}

bool is_instant(TimelineEvent const& event) {
  return event.kind == Kind::host_access || event.kind == Kind::note ||
         event.kind == Kind::violation;
}

std::uint64_t marked_ns(TimelineEvent const& event) {
  bool const is_of_host = event.kind == Kind::program_operation || event.kind == Kind::call;
  return is_of_host ? event.end_ns : event.begin_ns;
}

}  // namespace adamant::scenarios
