// What streams execute: operations, the tickets by which others learn that one is done, and the
// meetings at which the streams of several ranks execute one collective.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/sim.h"
#include "sim/world/clock.h"
#include "sim/world/work.h"

namespace adamant::sim {

struct GraphNode;
struct Host;
struct Stream;

enum class OperationKind : std::uint8_t {
  host,  // host code between two calls; not in any queue
  kernel,
  copy,
  fill,
  host_function,
  record,
  wait,
  allocate,
  release,
  collective,
};

/// What reports say of an operation; outlives it. Indexed by operation id.
struct OperationRecord {
  OperationKind kind = OperationKind::host;
  int rank = 0;
  int program_operation = -1;
  std::uint32_t agent = 0;
  char const* name = "";           // static text
  void const* function = nullptr;  // kernels and host functions
  std::uint64_t bytes = 0;
  std::uint32_t captured = 0;  // of a graph's launch: the record of the call that was captured
};

/// The moment at which a recorded event, or any other awaited operation, is done.
struct Ticket {
  bool done = false;
  bool held = false;  // while those that nobody needs any more are looked for
  VectorClock clock;  // what whoever waits learns
  std::uint64_t time_ns = 0;
  std::uint32_t operation = 0;   // that completes it
  Stream* stream = nullptr;      // that will complete it
  std::vector<Stream*> blocked;  // streams whose head waits for it
  std::vector<Host*> waiting;
};

/// One of those for whom a meeting or a host waits, for deadlock reports.
struct Awaited {
  Host const* host = nullptr;      // whose part is not there
  Stream const* stream = nullptr;  // where it is enqueued behind something else; null: nowhere
};

/// A collective: executed at once, for all its streams, when each has it at its head.
struct Meeting {
  std::uint32_t expected = 0;
  std::vector<Stream*> arrived;
  std::function<void(Meeting&)> execute;
  // For deadlock reports: which it is, and who is missing, in words and by rank.
  std::function<std::string()> describe;
  std::function<std::string()> describe_missing;
  std::function<std::vector<Awaited>()> missing;
};

struct StreamOperation {
  std::uint32_t id = 0;
  OperationKind kind = OperationKind::host;
  CopyPath path = CopyPath::none;
  std::uint64_t bytes = 0;  // as in its record, which may be far away by then
  VectorClock issued;       // what the issuing host knew
  std::uint64_t issued_ns = 0;
  std::uint64_t cost_ns = 0;
  Work body;
  Ticket* ticket = nullptr;         // record: completes it; wait: waits for it
  Meeting* meeting = nullptr;       // collective
  GraphNode const* node = nullptr;  // of the graph whose launch made it
  /// May its body meet an address where no memory is? Then it runs on a stack that can be left.
  bool may_fault = false;
};

}  // namespace adamant::sim
