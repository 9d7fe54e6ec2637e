// The trace of a run: what hosts and streams did in simulated time, and which event had to come
// before which. Where no trace is wanted it keeps nothing, and each step costs one branch.
//
// Invariants: 1. events of one track do not overlap, or lie one within the other; 2. what an event
// comes after was added before it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {

class World;
struct Agent;
struct Host;
struct Meeting;
struct OperationRecord;
struct Stream;
struct StreamOperation;
struct Ticket;

class Timeline {
 public:
  void reset(bool on, int ranks);
  bool on() const { return on_; }

  // ---- a host ----
  /// What it announces goes on until the next announcement.
  void announce(Host const& host, int operation, std::string_view name);
  void begin_call(Host const& host, char const* name);
  /// The call that began last. One in which nothing happened is left out. `ended`: the world did.
  void end_call(Host const& host, bool ended);
  void note(Host const& host, std::string_view name);
  /// A thread of the host's parallel loop begins.
  void begin_chunk(Host const& host, std::uint32_t record);
  /// The call that goes on has waited for this.
  void waited(Host const& host, Ticket const& ticket);
  void waited(Host const& host, Stream const& stream);

  // ---- a stream ----
  void enqueue(Host const& host, StreamOperation const& operation);
  void begin(Stream const& stream, StreamOperation const& operation);
  void end(Stream const& stream, StreamOperation const& operation);
  void meet(Meeting const& meeting);
  /// It will never execute its next operation.
  void stuck(Stream const& stream);

  // ---- a violation ----
  /// The event of one side of a conflict: that of its operation, or a new one, when host code came
  /// to `moment` of its clock.
  std::int64_t event_of(std::uint32_t operation, OperationRecord const& record,
                        std::uint32_t moment);
  std::int64_t mark(Host const& host, std::string_view law);

  /// All events; what never ended ends with the run. `describe` tells an event of its operation.
  std::vector<Event> take(std::uint64_t end_ns,
                          std::function<void(Event&, std::uint32_t operation)> const& describe);

 private:
  static constexpr std::uint32_t none = ~0U;

  struct OfHost {
    std::uint32_t announced = none;
    std::vector<std::uint32_t> calls = {};  // that go on, the innermost last
    // Simulated time since a moment of its clock: it passes in calls alone.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> since = {};
  };

  Event& add(EventKind kind, Agent const& agent, std::uint64_t at_ns, std::uint32_t operation);
  OfHost& of(Host const& host);
  void keep_moment(Host const& host);
  std::uint64_t time_of(std::uint32_t operation, int rank, std::uint32_t moment) const;
  void come_after(Event& event, std::unordered_map<std::uint32_t, std::uint32_t> const& events,
                  std::uint32_t key);

  bool on_ = false;
  std::vector<Event> events_;
  std::vector<std::uint32_t> operations_;  // by event; none: it is of no operation
  std::vector<OfHost> hosts_;
  // All of these are looked up only.
  std::unordered_map<std::uint32_t, std::uint32_t> event_of_;  // by operation
  std::unordered_map<std::uint32_t, std::uint32_t> call_of_;   // by operation
  std::unordered_map<std::uint32_t, std::uint32_t> last_of_;   // by stream
  std::unordered_map<std::uint32_t, std::uint64_t> chunk_ns_;  // by record
  int meetings_ = 0;
};

/// A call of a host, while it lasts.
class TracedCall {
 public:
  TracedCall(World& world, char const* name);
  ~TracedCall();
  TracedCall(TracedCall const&) = delete;  // a call ends once
  TracedCall& operator=(TracedCall const&) = delete;

 private:
  World* world_;  // null: no trace
};

}  // namespace adamant::sim
