// What a simulated world found: which law was broken and how, with both sides and the lines of the
// program. It knows no judge besides the world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::sim {

/// A line of the program. Without debug information, file and function are empty.
struct Location {
  std::string file = "";  // as the compiler was told, below the project's folder
  int line = 0;           // from 1
  std::string function = "";
  std::vector<Location> callers = {};  // the innermost first, a few: helpers are seldom the mistake
  bool known() const { return !file.empty(); }
  friend bool operator==(Location const&, Location const&) = default;
};

/// One side of a conflict.
struct Access {
  int rank = 0;
  std::string stream;      // "host" for host code
  std::string operation;   // kernel, copy or collective
  std::string name;        // the same without its size: by this one mistake is known again
  std::string kind;        // "read" or "write"
  std::string buffer;      // name and allocation epoch
  std::int64_t begin = 0;  // bytes from the start of the buffer, negative before it
  std::int64_t end = 0;
  // Of the load or the store, or of the memcpy or memset in host code or a kernel. Not known where
  // a stream moves bytes, as a copy or a collective does: there is no line but that of enqueued_at.
  Location at = {};
  Location enqueued_at = {};   // of the launch, copy, collective or free; not of host code
  Location captured_at = {};   // likewise, where a graph's launch enqueued it
  Location allocated_at = {};  // of the buffer
  Location freed_at = {};
  std::int64_t event = -1;  // its number in Report::trace, where one is kept
  friend bool operator==(Access const&, Access const&) = default;
};

/// What a world holds programs to, and a law that a harness found broken by itself.
enum class Law {
  access_bounds,
  access_uninitialized,
  access_lifetime,
  access_place,
  order_race,
  order_deadlock,
  order_collective,
  graph_capture,
  graph_pointer,
  graph_scalar,
  error_unseen,  // this one and the next two are warnings
  memory_leak,
  error_thread,
  of_harness,
};

/// Is breaking it no fault by itself, but what somebody should know of?
constexpr bool is_warning(Law law) {
  return law == Law::error_unseen || law == Law::memory_leak || law == Law::error_thread;
}

/// The law as reports write it.
constexpr std::string_view name_of(Law law) {
  constexpr std::string_view names[] = {
      "access.bounds",  "access.uninitialized", "access.lifetime", "access.place",  "order.race",
      "order.deadlock", "order.collective",     "graph.capture",   "graph.pointer", "graph.scalar",
      "error.unseen",   "memory.leak",          "error.thread",    "of the harness"};
  static_assert(std::size(names) == static_cast<std::size_t>(Law::of_harness) + 1);
  return names[static_cast<std::size_t>(law)];
}

/// How a law was broken. One law may be broken in several ways.
enum class Breach {
  unordered_accesses,      // two of them, with nothing between that orders them
  freed_before_allocated,  // in stream order
  used_before_allocated,   // likewise
  used_after_free,
  freed_since_capture,  // a graph uses it
  beyond_end,           // begins inside of an allocation, ends outside
  outside,              // of every allocation
  bad_address,          // no memory is there at all, so that the program cannot go on
  misaligned,           // a vector, in a kernel
  not_registered,       // host memory, any more
  not_reachable,        // host memory, from a device
  of_other_device,
  not_written,
  destroyed_handle,
  returned_frame,  // a graph uses a variable of a function that is over
  stale_setting,   // a graph holds it by value
  not_capturable,
  deadlock,
  left_over,  // work in a stream when all ranks have ended
  calls_differ,
  open_group,
  unseen_error,
  never_freed,
  foreign_thread,  // calls CUDA or NCCL, as ranks alone may
  of_harness,
};

/// The words for them, in their order, but for `of_harness`.
inline constexpr std::string_view breach_names[] = {"unordered_accesses",
                                                    "freed_before_allocated",
                                                    "used_before_allocated",
                                                    "used_after_free",
                                                    "freed_since_capture",
                                                    "beyond_end",
                                                    "outside",
                                                    "bad_address",
                                                    "misaligned",
                                                    "not_registered",
                                                    "not_reachable",
                                                    "of_other_device",
                                                    "not_written",
                                                    "destroyed_handle",
                                                    "returned_frame",
                                                    "stale_setting",
                                                    "not_capturable",
                                                    "deadlock",
                                                    "left_over",
                                                    "calls_differ",
                                                    "open_group",
                                                    "unseen_error",
                                                    "never_freed",
                                                    "foreign_thread"};
static_assert(std::size(breach_names) == static_cast<std::size_t>(Breach::of_harness));

/// The word that documents know it by. REQUIRES: it is a world's own.
constexpr std::string_view name_of(Breach breach) {
  return breach_names[static_cast<std::size_t>(breach)];
}

/// A rank that waits for ever.
struct Waiting {
  int rank = 0;
  Location at = {};  // of the call that does not return
  friend bool operator==(Waiting const&, Waiting const&) = default;
};

/// Another call that a violation is about.
struct Related {
  /// What it did: the rank with which one is compared "called", a handle was "destroyed", what a
  /// graph's launch does was "captured", a group was "opened".
  std::string what;
  int rank = 0;
  Location at = {};
  friend bool operator==(Related const&, Related const&) = default;
};

/// One mistake: what many ranks, steps or buffers show alike is one violation, the first of them.
struct Violation {
  static constexpr int no_rank = -1;  // a thread that the program started itself belongs to none
  Law law = Law::order_race;
  Breach breach = Breach::unordered_accesses;
  int rank = 0;
  int operation = -1;      // what the host program announced with note_operation()
  std::string about = "";  // the call, handle or setting that it is about, where it is about one
  std::string message = "";
  std::vector<Access> accesses = {};
  std::string missing = "";        // the edge that would have ordered them
  bool host_did_not_wait = false;  // of the first access for the second, which it enqueued
  Location at = {};                // of the call that it is about, where there are no accesses
  /// Other calls. Of a collective in which ranks differ: where the reporting rank captured its own,
  /// if a graph repeats it; then what the other rank called, and where that was captured.
  std::vector<Related> related = {};
  std::vector<Waiting> waiting = {};  // in a deadlock
  std::vector<int> ranks = {};        // all for which it was found, ascending
  std::int64_t count = 1;             // how often
  std::uint64_t bytes = 0;            // of a leak: of all that it counts
  int number = -1;                    // of_harness: which of what the harness found
  std::int64_t event = -1;            // where there are no accesses: as Access::event
};

}  // namespace adamant::sim
