// What a simulated world did in simulated time: for traces and for pictures. Plain values, which
// know no engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adamant::scenarios {

/// A row of the picture. Events of a host or a stream do not overlap, or lie one within the other.
/// Copy engines have no limit here: one that is busy has another beside it.
struct Track {
  enum class Kind { host, stream, copy_engine };
  Kind kind = Kind::host;
  int rank = 0;
  std::string name = "";
  friend bool operator==(Track const&, Track const&) = default;
};

struct TimelineEvent {
  enum class Kind {
    host_access,  // of a violation, by host code; takes no time
    // ---- what a stream executes ----
    kernel,
    copy,
    fill,
    host_function,
    record,
    wait,
    allocate,
    release,
    collective,
    // ---- what a host does ----
    call,
    program_operation,
    note,       // takes no time
    violation,  // likewise, of one that is about no access
  };
  Kind kind = Kind::call;
  int track = 0;
  int copy_engine = -1;  // of a copy: the other track on which it is
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::string name = "";
  int operation = -1;  // index of the program's entry
  std::uint64_t bytes = 0;
  std::vector<int> after = {};  // events: who enqueued it, what it waited for
  int meeting = -1;             // the members of one collective have one number
  bool unfinished = false;      // when the run ended
  friend bool operator==(TimelineEvent const&, TimelineEvent const&) = default;
};

/// Events stand in the order in which they begin. So a wait may stand before what it waits for.
struct Timeline {
  std::vector<Track> tracks;
  std::vector<TimelineEvent> events;
  bool empty() const { return events.empty(); }
  friend bool operator==(Timeline const&, Timeline const&) = default;
};

}  // namespace adamant::scenarios
