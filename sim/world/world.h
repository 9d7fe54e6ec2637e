// The world outside the CUDA API: ranks, streams and what each knows of the other, one scheduler
// that asks Choices at every step, the history and its digest.
//
// It does not know memory, devices or any CUDA rule; observers learn of every step and steer none.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/sim.h"
#include "sim/world/choices.h"
#include "sim/world/crew.h"
#include "sim/world/fiber.h"
#include "sim/world/history.h"
#include "sim/world/locations.h"
#include "sim/world/operation.h"
#include "sim/world/ready_list.h"
#include "sim/world/timeline.h"

namespace adamant::sim {

/// Whoever has a clock of its own.
struct Agent : Candidate {
  std::uint32_t index = 0;
  // Of vector clocks: the index, or 0 for all where a trace alone asks for moments. None where
  // nobody does: clocks then stay empty, and nothing that knows another has to be looked up.
  static constexpr std::uint32_t no_component = UINT32_MAX;
  std::uint32_t component = no_component;
  bool is_host = false;
  bool ready = false;
  VectorClock clock;
  std::uint64_t now_ns = 0;

  void advance() {
    if (component != no_component) clock.advance(component);
  }
};

/// What a host waits for if it is neither a stream nor an event, for deadlock reports; what is
/// empty says nothing.
struct HostWait {
  std::function<std::string()> describe;
  std::function<std::vector<Awaited>()> whom;  // by rank
};

/// A rank's host code.
struct Host : Agent {
  int rank = 0;
  int program_operation = -1;
  std::uint32_t record = 0;  // the operation id of host code since the last announcement
  Fiber fiber;
  std::vector<std::unique_ptr<Agent>> threads;  // of its parallel loops, used again by the next
  // What it waits for, if anything: for deadlock reports.
  Stream* waits_for_stream = nullptr;
  Ticket* waits_for_ticket = nullptr;
  Ticket* keeps = nullptr;  // will need it, waiting or not
  char const* waits_in = nullptr;
  HostWait wait;   // for what else, if neither
  Stack waits_at;  // in a run that looks for lines
  // The record of the call that opened what holds later ones back, as a group of NCCL does; 0:
  // nothing is open.
  std::uint32_t held_back_by = 0;
};

struct Stream : Agent {
  int rank = 0;  // of the host that made it
  int device = 0;
  unsigned flags = 0;
  int cuda_priority = 0;
  std::uint32_t destroyed_by = 0;  // the call's record; 0: it lives
  bool is_legacy_default = false;
  bool made_by_call = false;  // of the program, which destroys it
  // How far this stream and the device's legacy default stream have been ordered, in operations.
  std::uint64_t known_to_legacy = 0;
  std::uint64_t knows_of_legacy = 0;
  std::string name;
  std::deque<StreamOperation*> queue;
  std::uint64_t enqueued = 0;
  std::uint64_t completed = 0;
  struct Waiter {
    Host* host;
    std::uint64_t target;
  };
  std::vector<Waiter> waiters;

  StreamOperation* head() const { return queue.empty() ? nullptr : queue.front(); }
};

/// Learns of every step of the world.
class WorldObserver {
 public:
  virtual ~WorldObserver() = default;
  virtual void host_resumes(Host& host) = 0;
  /// The host is about to lose control, or its clock to advance.
  virtual void host_pauses(Host& host) = 0;
  /// A thread of the host's parallel loop begins, and the host goes on after its end.
  virtual void chunk_begins(Agent& thread, std::uint32_t record) = 0;
  virtual void chunk_ends(Host& host) = 0;
  virtual void operation_begins(Stream& stream, StreamOperation& operation) = 0;
  virtual void operation_ends(Stream& stream, StreamOperation& operation) = 0;
};

class World {
 public:
  /// So many tickets cost less than a look at all of them.
  static constexpr std::size_t tickets_swept_min = 4096;

  /// Empties the world. What a run asks of Choices before its ranks start comes after this.
  void prepare(Options const& options, WorldObserver& observer);
  /// Runs all ranks to their end. Errors: rethrows the first failure of a rank.
  void run(int ranks, std::function<void(int)> const& main);

  // ---- agents ----
  Host* host() const { return host_; }  // whose code runs now; null inside an operation
  std::vector<std::unique_ptr<Host>> const& hosts() const { return hosts_; }
  std::deque<Stream>& streams() { return streams_; }
  Stream& add_stream(int device, unsigned flags, int cuda_priority);
  int ranks() const { return static_cast<int>(hosts_.size()); }
  /// Hosts, streams and threads that there were.
  std::uint32_t agent_count() const { return agent_count_; }

  // ---- operations: make, fill in, push ----
  StreamOperation& make(OperationKind kind, char const* name, std::uint64_t bytes = 0,
                        void const* function = nullptr);
  /// The one that an earlier call asked for, which has added its record.
  StreamOperation& make(std::uint32_t record);
  void push(Stream& stream, StreamOperation& operation);
  /// It is what a graph captured at that call.
  void stems_from(StreamOperation const& operation, std::uint32_t captured) {
    if (OperationRecord* const record = history_.find(operation.id)) record->captured = captured;
  }
  /// Takes back what was made and not pushed.
  void discard(StreamOperation& operation);
  /// Whoever keeps its address longer than the call has it found by the holders of set_holders(),
  /// or as Host::keeps.
  Ticket& add_ticket();
  /// Who marks the tickets that are held outside of the world, by Ticket::held.
  using TicketHolders = std::function<void()>;
  void set_holders(TicketHolders holders) { holders_ = std::move(holders); }
  Meeting& add_meeting(std::uint32_t expected);
  /// The operation stays in its queue, but does nothing and waits for nobody.
  void leave_meeting(Stream& stream, StreamOperation& operation);

  // ---- the calling host waits; false if the world ended meanwhile ----
  /// Lets the scheduler choose who goes on.
  bool yield();
  /// Like yield, for a host that asks whether something is done and may ask again. When nothing
  /// else can go on and all ask for ever, that is a deadlock.
  bool yield_polling(char const* call, Stream* stream = nullptr, Ticket* ticket = nullptr);
  bool wait_for_stream(Stream& stream, char const* call);
  bool wait_for_ticket(Ticket& ticket, char const* call);
  /// Waits until `wake` is called for this host by another one.
  bool block(char const* call, HostWait wait = {});
  void wake(Host& host);
  /// Waits until nothing else can go on.
  bool wait_for_quiet();
  /// Runs the pieces of a parallel loop, each as a thread of its own, in a chosen order.
  void run_chunks(int count, std::function<void(int)> const& body);
  /// Runs the pieces of a parallel loop on the crew's threads, where nobody judges them.
  void share_chunks(int count, std::function<void(int)> const& body);
  /// Releases the calling host's knowledge: what it does next is not covered by what it gave away.
  void advance_host();

  // ---- the end ----
  void end();
  bool ended() const { return ended_; }
  /// On which operations run.
  Fiber const& executor() const { return executor_; }
  /// What runs now: a rank, or the operation of a stream; null while the world itself does.
  Fiber* running() const { return running_; }

  // ---- history ----
  Choices& choices() { return choices_; }
  Prng& addresses() { return addresses_; }
  OperationRecord const& record(std::uint32_t id) const { return history_[id]; }
  std::uint32_t add_record(OperationRecord const& record);
  void mix(std::uint64_t value) { digest_ = mix64(digest_ ^ value) + 0x9E3779B97F4A7C15ULL; }
  std::uint64_t digest() const { return digest_; }
  /// A rank learns a value, or the bytes that a copy brings. In which order ranks and streams do
  /// decides nothing.
  void learn(std::uint64_t value) { learned_ += mix64(value); }
  void learn(int rank, void const* bytes, std::size_t count);
  std::uint64_t values_digest() const { return learned_; }
  std::uint64_t executed() const { return executed_; }
  std::uint64_t simulated_ns() const { return simulated_ns_; }
  Timeline& timeline() { return timeline_; }
  Options const& options() const { return options_; }
  Locations& locations() { return locations_; }
  Crew& crew() { return *crew_; }
  /// Ends the crew's threads, which no process that is forked later would have.
  void dismiss_crew() { crew_.reset(); }

  // ---- what observers and harnesses found ----
  void add_violation(Violation violation);
  /// Another call that the next violation is about, by the record that it added.
  Related related(std::string_view what, std::uint32_t call);
  std::vector<Violation>& violations() { return violations_; }
  std::vector<Violation>& warnings() { return warnings_; }

 private:
  /// Of the clocks of who has this index.
  std::uint32_t component_of(std::uint32_t index) const {
    if (options_.checked) return index;
    return options_.trace ? 0 : Agent::no_component;
  }
  void schedule();
  void look_ahead() const;
  void resume(Host& host);
  Agent& thread_of(Host& host, std::size_t number);
  void execute_head(Stream& stream);
  void execute_one(Stream& stream, StreamOperation& operation);
  void start_executor();
  void execute_body(Work& body);
  void execute_meeting(Meeting& meeting);
  void begin_operation(Stream& stream, StreamOperation& operation);
  void end_operation(Stream& stream, StreamOperation& operation);
  void complete(Stream& stream, StreamOperation& operation);
  void complete(Ticket& ticket, Stream& stream);
  void look_at_head(Stream& stream);
  void make_ready(Agent& agent);
  bool wake_quiet_hosts();
  bool suspend();
  void report_deadlock();
  void sweep_tickets();
  void report_left_over();

  Options options_;
  std::optional<Crew> crew_;
  WorldObserver* observer_ = nullptr;
  Choices choices_;
  Prng addresses_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::deque<Stream> streams_;
  std::uint32_t agent_count_ = 0;
  std::deque<Ticket> tickets_;
  std::size_t tickets_used_ = 0;       // the first ones; those behind are of an earlier world
  std::vector<Ticket*> free_tickets_;  // of those
  std::size_t tickets_until_sweep_ = 0;
  TicketHolders holders_;
  std::deque<Meeting> meetings_;
  std::vector<std::unique_ptr<StreamOperation>> operations_;
  std::vector<StreamOperation*> free_operations_;

  Host* host_ = nullptr;
  Fiber* running_ = nullptr;
  // Operations run on a stack of their own, which can be left where one of them breaks off.
  Fiber executor_;
  Work* executing_ = nullptr;
  int unfinished_hosts_ = 0;
  std::exception_ptr failure_;  // the first that left a rank's main
  ReadyList ready_;
  bool takes_oldest_ = false;  // of those
  std::vector<Host*> quiet_hosts_;
  std::uint64_t polls_in_vain_ = 0;  // since anything else happened
  bool ended_ = false;

  History history_;
  std::uint64_t digest_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t simulated_ns_ = 0;
  Timeline timeline_;
  std::vector<Violation> violations_;
  std::vector<Violation> warnings_;
  std::uint64_t learned_ = 0;
  Locations locations_;
  std::unordered_map<std::string, std::size_t> seen_violations_;  // looked up only: which it is
};

}  // namespace adamant::sim
