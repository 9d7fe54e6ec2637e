#include "scenarios/report/trace/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/report/json.h"
#include "scenarios/report/trace/marks.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;
using Kind = TimelineEvent::Kind;

std::string_view category_of(Kind kind) {
  constexpr std::string_view names[] = {
      "host access", "kernel",  "copy",       "fill", "host function", "record", "wait",
      "allocate",    "release", "collective", "call", "operation",     "note",   "violation"};
  return names[static_cast<int>(kind)];
}

/// Units: microseconds, as the format has them.
double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1000;
}

class ChromeWriter {
 public:
  explicit ChromeWriter(RunResult const& result) : result_(result), timeline_(result.timeline) {}

  std::string write() {
    for (std::size_t i = 0; i < timeline_.tracks.size(); ++i) name_track(static_cast<int>(i));
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) add_event(static_cast<int>(i));
    add_meetings();
    for (Violation const& violation : result_.violations) add_violation(violation);
    for (Violation const& warning : result_.warnings) add_violation(warning);
    return to_line(document()) + "\n";
  }

 private:
  TimelineEvent const& event(int number) const {
    return timeline_.events[static_cast<std::size_t>(number)];
  }

  /// Whoever reads the file keeps the order of what is at one time. There a slice comes before the
  /// ends of its arrows, and all of these before the track's next slice.
  struct Key {
    std::uint64_t ns = 0;
    int event = 0;
    enum Part { slice, arrives, leaves, arrives_at_once, marks } part = slice;
    bool operator<(Key const& other) const {
      return std::tie(ns, event, part) < std::tie(other.ns, other.event, other.part);
    }
  };

  /// To whoever reads the file, process 0 and thread 0 are the kernel's.
  Json frame(char const* phase, std::string_view name, int track) const {
    int const rank = timeline_.tracks[static_cast<std::size_t>(track)].rank;
    return {{"ph", phase}, {"name", name}, {"pid", rank + 1}, {"tid", track + 1}};
  }

  void name_track(int number) {
    Track const& track = timeline_.tracks[static_cast<std::size_t>(number)];
    if (track.kind == Track::Kind::host) {
      Json process = frame("M", "process_name", number);
      process["args"] = {{"name", fmt::format("rank {}", track.rank)}};
      metadata_.push_back(std::move(process));
    }
    Json thread = frame("M", "thread_name", number);
    bool const is_stream = track.kind == Track::Kind::stream;
    thread["args"] = {{"name", is_stream ? "stream " + track.name : track.name}};
    metadata_.push_back(std::move(thread));
    Json order = frame("M", "thread_sort_index", number);
    int const group = static_cast<int>(track.kind);  // host, streams, copy engines
    order["args"] = {{"sort_index", group * static_cast<int>(timeline_.tracks.size()) + number}};
    metadata_.push_back(std::move(order));
  }

  void add(Key key, Json json, std::string_view category) {
    json["cat"] = category;
    json["ts"] = microseconds(key.ns);
    events_.emplace_back(key, std::move(json));
  }

  void add_event(int number) {
    TimelineEvent const& of = event(number);
    if (is_instant(of)) return add_instant(number);
    add_slice(number, of.track);
    if (of.copy_engine >= 0) add_slice(number, of.copy_engine);
    for (int const before : of.after) {
      bool const enqueued = event(before).kind == Kind::call;
      add_arrow(enqueued ? "enqueue" : "wait", {before, enqueued ? Side::begin : Side::end},
                {number, enqueued ? Side::begin : Side::end});
    }
  }

  void add_slice(int number, int track) {
    TimelineEvent const& of = event(number);
    Json slice = frame("X", of.name, track);
    slice["dur"] = microseconds(of.end_ns - of.begin_ns);
    Json& args = slice["args"] = Json::object();
    if (of.operation >= 0) args["operation"] = of.operation;
    if (of.bytes > 0) args["bytes"] = of.bytes;
    if (of.unfinished) args["unfinished"] = true;
    add({of.begin_ns, number, Key::slice}, std::move(slice), category_of(of.kind));
  }

  /// Violations have marks of their own, which say more.
  void add_instant(int number) {
    TimelineEvent const& of = event(number);
    if (of.kind != Kind::note) return;
    Json instant = frame("i", of.name, of.track);
    instant["s"] = "t";
    add({of.begin_ns, number, Key::slice}, std::move(instant), category_of(of.kind));
  }

  // ---- arrows ----------------------------------------------------------------------------------

  enum class Side { begin, end };
  struct ArrowEnd {
    int event;
    Side side;
  };
  std::uint64_t ns_of(ArrowEnd const& end) const {
    return end.side == Side::begin ? event(end.event).begin_ns : event(end.event).end_ns;
  }

  void add_arrow(std::string_view category, ArrowEnd from, ArrowEnd to) {
    add_arrow(category, from.event, ns_of(from), to.event, ns_of(to));
  }

  void add_arrow(std::string_view category, int from, std::uint64_t from_ns, int to,
                 std::uint64_t to_ns) {
    int const id = ++arrows_;
    Json start = frame("s", category, event(from).track);
    start["id"] = id;
    add({from_ns, from, Key::leaves}, std::move(start), category);
    Json finish = frame("f", category, event(to).track);
    finish["id"] = id;
    finish["bp"] = "e";  // the slice around it, not the next one
    // What points to a slice that has begun before its source arrives right after it leaves.
    bool const at_once = from_ns == to_ns && to < from;
    Key const arrival{to_ns, at_once ? from : to, at_once ? Key::arrives_at_once : Key::arrives};
    add(arrival, std::move(finish), category);
  }

  /// The member that arrives last lets the others go on.
  void add_meetings() {
    std::map<int, std::vector<int>> members;
    for (std::size_t i = 0; i < timeline_.events.size(); ++i)
      if (int const meeting = timeline_.events[i].meeting; meeting >= 0)
        members[meeting].push_back(static_cast<int>(i));
    for (auto const& [meeting, numbers] : members) {
      int const last = *std::max_element(numbers.begin(), numbers.end(), [&](int a, int b) {
        return event(a).begin_ns < event(b).begin_ns;
      });
      std::uint64_t const ns = event(last).begin_ns;
      for (int const member : numbers)
        if (member != last) add_arrow("collective", last, ns, member, ns);
    }
  }

  // ---- violations ------------------------------------------------------------------------------

  void add_violation(Violation const& violation) {
    std::vector<int> const about = events_of(violation, timeline_);
    for (int const number : about) {
      Json mark = frame("i", id_of(violation.law), event(number).track);
      mark["s"] = "t";
      mark["args"] = {{"violation", in_one_line(violation)}};
      if (!violation.missing.empty()) mark["args"]["missing"] = violation.missing;
      add({marked_ns(event(number)), number, Key::marks}, std::move(mark), "violation");
    }
    if (about.size() == 2 && !is_instant(event(about[0])) && !is_instant(event(about[1])))
      add_missing_edge(about[0], about[1]);
  }

  /// In the schedule that was run one of the two came first.
  void add_missing_edge(int first, int second) {
    if (first == second) return;
    if (event(second).begin_ns < event(first).begin_ns) std::swap(first, second);
    add_arrow("missing", {first, Side::begin}, {second, Side::begin});
  }

  Json document() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    Json all = std::move(metadata_);
    for (auto& [key, json] : events_) all.push_back(std::move(json));
    return {{"displayTimeUnit", "ns"},
            {"otherData",
             {{"scenario", result_.name},
              {"engine", result_.engine},
              {"seed", result_.seed},
              {"digest", fmt::format("{:016x}", result_.digest)}}},
            {"traceEvents", std::move(all)}};
  }

  RunResult const& result_;
  Timeline const& timeline_;
  Json metadata_ = Json::array();
  std::vector<std::pair<Key, Json>> events_;
  int arrows_ = 0;
};

}  // namespace

std::string to_chrome_trace(RunResult const& result) {
  return ChromeWriter(result).write();
}

}  // namespace adamant::scenarios
