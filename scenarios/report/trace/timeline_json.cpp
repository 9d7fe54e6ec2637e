#include "scenarios/report/trace/timeline_json.h"

#include <stdexcept>
#include <utility>

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

// Arrays in the order of the members: a run may have 100,000 events.

/// Errors: std::invalid_argument where another program knows more of them.
template <typename Kind>
Kind kind_in(Json const& json, Kind last) {
  int const kind = json.get<int>();
  if (kind < 0 || kind > static_cast<int>(last)) throw std::invalid_argument("no such kind");
  return static_cast<Kind>(kind);
}

/// Errors: std::invalid_argument where it is no number from `first` on that is below `end`.
int number_in(Json const& json, int first, std::size_t end) {
  int const number = json.get<int>();
  if (number < first || std::cmp_greater_equal(number, end))
    throw std::invalid_argument("no such track or event");
  return number;
}

Json to_json(Track const& track) {
  return Json::array({static_cast<int>(track.kind), track.rank, track.name});
}

Track track_from(Json const& json) {
  return {.kind = kind_in(json.at(0), Track::Kind::copy_engine),
          .rank = json.at(1),
          .name = json.at(2)};
}

Json to_json(TimelineEvent const& event) {
  return Json::array({static_cast<int>(event.kind), event.track, event.copy_engine, event.begin_ns,
                      event.end_ns, event.name, event.operation, event.bytes, event.after,
                      event.meeting, event.unfinished});
}

TimelineEvent event_from(Json const& json, std::size_t tracks, std::size_t events) {
  TimelineEvent event{.kind = kind_in(json.at(0), TimelineEvent::Kind::violation),
                      .track = number_in(json.at(1), 0, tracks),
                      .copy_engine = number_in(json.at(2), -1, tracks),
                      .begin_ns = json.at(3),
                      .end_ns = json.at(4),
                      .name = json.at(5),
                      .operation = json.at(6),
                      .bytes = json.at(7),
                      .meeting = json.at(9),
                      .unfinished = json.at(10)};
  for (Json const& before : json.at(8)) event.after.push_back(number_in(before, 0, events));
  return event;
}

/// Of every violation and warning: its own event, then those of its accesses.
template <typename Result, typename Visit>
void visit_marks(Result& result, Visit visit) {
  for (auto* const list : {&result.violations, &result.warnings}) {
    for (auto& violation : *list) {
      visit(violation.event);
      for (auto& access : violation.accesses) visit(access.event);
    }
  }
}

}  // namespace

Json timeline_to_json(RunResult const& result) {
  Json json{{"tracks", Json::array()}, {"events", Json::array()}, {"marks", Json::array()}};
  for (Track const& track : result.timeline.tracks) json["tracks"].push_back(to_json(track));
  for (TimelineEvent const& event : result.timeline.events)
    json["events"].push_back(to_json(event));
  visit_marks(result, [&](std::int64_t event) { json["marks"].push_back(event); });
  return json;
}

void add_timeline(RunResult& result, Json const& json) {
  Timeline& timeline = result.timeline;
  for (Json const& track : json.at("tracks")) timeline.tracks.push_back(track_from(track));
  Json const& events = json.at("events");
  for (Json const& event : events)
    timeline.events.push_back(event_from(event, timeline.tracks.size(), events.size()));
  std::size_t next = 0;
  visit_marks(result, [&](std::int64_t& event) {
    event = number_in(json.at("marks").at(next++), -1, timeline.events.size());
  });
}

}  // namespace adamant::scenarios
