#include "scenarios/report/html/grid.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "scenarios/report/trace/marks.h"

namespace adamant::scenarios {

namespace {

using Kind = TimelineEvent::Kind;

constexpr int steps_max = 4;  // from what is marked
constexpr std::size_t unfinished_max = 8;
constexpr std::size_t led_to_a_value_max = 12;

/// Left out unless the violation is about it: it orders nothing, or is a span around others.
bool is_aside(TimelineEvent const& event) {
  return is_instant(event) || event.kind == Kind::allocate || event.kind == Kind::release ||
         event.kind == Kind::program_operation;
}

class Growth {
 public:
  Growth(Timeline const& timeline, Violation const& violation, std::size_t events_max)
      : timeline_(timeline), violation_(violation), events_max_(events_max) {
    for (std::size_t i = 0; i < timeline.events.size(); ++i)
      if (!is_aside(timeline.events[i])) on_track_[timeline.events[i].track].push_back(int(i));
    for (auto& [track, events] : on_track_) sort_by_time(events);
  }

  Window grow() {
    Window window;
    mark(window);
    for (int const number : window.marked) reach(number, 0);
    if (is_about_all_ranks()) reach_last_of_hosts();
    while (!queue_.empty() && shown_.size() < events_max_) {
      auto const [number, steps] = queue_.front();
      queue_.pop_front();
      look_around(number, steps);
    }
    std::erase_if(window.marked, [&](int number) { return shown_.count(number) == 0; });
    add_operations();
    window.events.assign(shown_.begin(), shown_.end());
    return window;
  }

 private:
  TimelineEvent const& event(int number) const {
    return timeline_.events[static_cast<std::size_t>(number)];
  }

  void sort_by_time(std::vector<int>& events) const {
    std::stable_sort(events.begin(), events.end(),
                     [&](int a, int b) { return event(a).begin_ns < event(b).begin_ns; });
  }

  /// Who waits for ever is what a deadlock is about.
  void mark(Window& window) const {
    window.marked = events_of(violation_, timeline_);
    if (violation_.breach != Breach::deadlock) return;
    std::vector<int> unfinished;
    for (auto const& [track, events] : on_track_)
      for (int const number : events)
        if (event(number).unfinished) unfinished.push_back(number);
    if (unfinished.empty()) return;
    window.marked = std::move(unfinished);
    if (window.marked.size() > unfinished_max) window.marked.resize(unfinished_max);
  }

  /// Where ranks do not meet, each has a part in it.
  bool is_about_all_ranks() const {
    return violation_.breach == Breach::deadlock || violation_.breach == Breach::calls_differ ||
           violation_.breach == Breach::left_over;
  }

  void reach_last_of_hosts() {
    for (auto const& [track, events] : on_track_) {
      if (timeline_.tracks[static_cast<std::size_t>(track)].kind != Track::Kind::host) continue;
      reach(events.back(), 1);
      auto const last_meeting = std::find_if(events.rbegin(), events.rend(), [&](int number) {
        return event(number).name.starts_with("nccl");
      });
      if (last_meeting != events.rend()) reach(*last_meeting, 1);
    }
  }

  bool reach(int number, int steps) {
    if (shown_.size() >= events_max_ || shown_.count(number) > 0) return false;
    int const track = event(number).track;
    if (tracks_.count(track) == 0 && tracks_.size() >= window_tracks_max) return false;
    tracks_.insert(track);
    shown_.insert(number);
    queue_.emplace_back(number, steps);
    return true;
  }

  /// Of what hosts did, only what enqueued the marked events: it says where in the program they
  /// are.
  void look_around(int number, int steps) {
    TimelineEvent const& of = event(number);
    if (of.kind == Kind::program_operation) return look_into(of);
    if (steps >= steps_max) return;
    for (int const before : of.after)
      if (steps == 0 || event(before).kind != Kind::call) reach(before, steps + 1);
    if (of.kind == Kind::call && steps > 0) return;
    reach_neighbour(number, -1, steps + 1);
    if (steps > 0) return;
    reach_neighbour(number, +1, steps_max);
    if (of.kind == Kind::collective) reach_members(of.meeting);
  }

  void reach_neighbour(int number, int side, int steps) {
    std::vector<int> const& events = on_track_[event(number).track];
    auto at = std::lower_bound(events.begin(), events.end(), number, [&](int a, int b) {
      return std::pair(event(a).begin_ns, a) < std::pair(event(b).begin_ns, b);
    });
    bool const is_there = at != events.end() && *at == number;
    if (side < 0 && at != events.begin()) reach(*std::prev(at), steps);
    if (side > 0 && is_there) ++at;
    if (side > 0 && at != events.end()) reach(*at, steps);
  }

  void reach_members(int meeting) {
    if (meeting < 0) return;
    for (std::size_t i = 0; i < timeline_.events.size(); ++i)
      if (timeline_.events[i].meeting == meeting) reach(static_cast<int>(i), steps_max);
  }

  /// Values are compared when an operation of the program ends: the last that its rank's streams
  /// did for it led there.
  void look_into(TimelineEvent const& operation) {
    int const rank = timeline_.tracks[static_cast<std::size_t>(operation.track)].rank;
    std::vector<int> of_rank;
    for (auto const& [track, events] : on_track_) {
      Track const& of = timeline_.tracks[static_cast<std::size_t>(track)];
      if (of.rank != rank || of.kind != Track::Kind::stream) continue;
      for (int const number : events)
        if (event(number).operation == operation.operation) of_rank.push_back(number);
    }
    sort_by_time(of_rank);
    std::size_t const count = std::min(of_rank.size(), led_to_a_value_max);
    for (std::size_t i = 0; i < count; ++i) reach(of_rank[of_rank.size() - 1 - i], steps_max - 1);
  }

  /// Around what is shown of a host.
  void add_operations() {
    std::vector<int> around;
    for (std::size_t i = 0; i < timeline_.events.size(); ++i)
      if (is_around_shown(timeline_.events[i])) around.push_back(static_cast<int>(i));
    shown_.insert(around.begin(), around.end());
  }

  bool is_around_shown(TimelineEvent const& operation) const {
    if (operation.kind != Kind::program_operation) return false;
    return std::any_of(shown_.begin(), shown_.end(), [&](int number) {
      TimelineEvent const& of = event(number);
      return of.track == operation.track && of.begin_ns >= operation.begin_ns &&
             of.begin_ns < operation.end_ns;
    });
  }

  Timeline const& timeline_;
  Violation const& violation_;
  std::size_t events_max_;
  std::map<int, std::vector<int>> on_track_;
  std::set<int> shown_;
  std::set<int> tracks_;
  std::deque<std::pair<int, int>> queue_;
};

}  // namespace

Window window_of(Timeline const& timeline, Violation const& violation, std::size_t events_max) {
  return Growth(timeline, violation, events_max).grow();
}

}  // namespace adamant::scenarios
