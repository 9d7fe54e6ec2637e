// What a simulated world found: which law was broken and how, with both sides and the lines of the
// program. It knows no judge besides the world.
#pragma once

#include <cstddef>
#include <cstdint>
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
#define ADAMANT_LAW(law, name, text) law,
#include "sim/laws.inc"
  of_harness,
};

/// Is breaking it no fault by itself, but what somebody should know of?
constexpr bool is_warning(Law law) {
#define ADAMANT_LAW(law, name, text)
#define ADAMANT_WARNING(warning, name, text) \
  if (law == Law::warning) return true;
#include "sim/laws.inc"
  return false;
}

/// The law as reports write it.
constexpr std::string_view name_of(Law law) {
  constexpr std::string_view names[] = {
#define ADAMANT_LAW(law, name, text) name,
#include "sim/laws.inc"
      "of the harness"};
  return names[static_cast<std::size_t>(law)];
}

/// How a law was broken. One law may be broken in several ways.
enum class Breach {
#define ADAMANT_BREACH(breach) breach,
#include "sim/breaches.inc"
  of_harness,
};

/// The words for them, in their order, but for `of_harness`.
inline constexpr std::string_view breach_names[] = {
#define ADAMANT_BREACH(breach) #breach,
#include "sim/breaches.inc"
};

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
