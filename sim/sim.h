// The public face of the simulator: run the ranks of a program against the simulated CUDA runtime
// and NCCL, and learn what happened.
//
// The ranks of a world share one OS thread: they are fibers, streams and collectives are queues,
// and all that hardware leaves open is asked of one object, Choices, so that a run is a function of
// its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/marks.h"
#include "sim/violation.h"

namespace adamant::sim {

/// Was simulated code compiled to report its accesses? Not where the address sanitizer is at work:
/// the two instrumentations exclude each other, and every run must be unchecked.
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
inline constexpr bool can_check = false;
#else
inline constexpr bool can_check = true;
#endif

/// How open questions are answered: `fifo` takes the oldest candidate, `random` any, `pct` follows
/// random priorities with `depth` - 1 change points (Burckhardt et al. 2010).
enum class Strategy { fifo, random, pct };

struct ScheduleOptions {
  Strategy strategy = Strategy::fifo;
  std::uint64_t seed = 0;
  int depth = 3;
  /// Recorded answers to follow first; when they run out, `strategy` goes on.
  std::optional<std::vector<std::uint32_t>> choices = std::nullopt;
};

/// In which order a reduction adds the ranks' contributions. `chosen` asks Choices per collective.
enum class ReductionOrder { chosen, ring, tree, linear };

/// The `nth` call of `rank` that asks for memory, of a device or pinned, fails; from 1.
struct AllocationFailure {
  int rank = 0;
  std::int64_t nth = 1;
};

/// What a second run watches for, to say at which lines a violation happened: an operation, and
/// one access of it where begin < end. All are numbers that a repeated run repeats.
struct Sought {
  static constexpr std::uint32_t any_block = ~0U;
  std::uint32_t operation = 0;
  std::uint32_t agent = 0;  // and the moment, of its clock
  std::uint32_t moment = 0;
  std::uint32_t block = any_block;  // of a kernel
  std::int64_t allocation = -1;     // in the heap: its number; bytes count from its start
  std::uint64_t begin = 0;          // else from the start of simulated memory
  std::uint64_t end = 0;
  bool write = false;
  bool atomic = false;
  friend bool operator==(Sought const&, Sought const&) = default;
};

struct Options {
  std::uint64_t seed = 0;  // addresses and poison
  ScheduleOptions schedule = {};
  ReductionOrder reduction_order = ReductionOrder::chosen;
  int devices = 0;                          // 0: one a rank
  std::size_t device_bytes = 80ULL << 30;   // of each device
  std::size_t pinned_bytes = 256ULL << 30;  // of the host
  bool checked = can_check;                 // judge accesses; sees those of instrumented code
  bool trace = false;                       // keep every operation in Report::trace
  /// Tell violations on the standard error: a line for each as soon as it is found, and the whole
  /// report before the program ends without it, by an exception, exit() or abort().
  bool announce = true;
  /// OS threads that share large copies, fills and reductions, whose bits do not depend on it. In
  /// unchecked worlds also kernels with blocks of one thread: REQUIRES that blocks of a launch then
  /// do not work on the same bytes, not even by atomics.
  int threads = 1;
  /// cudaFree and cudaFreeHost wait for all work of the device, as hardware does. The documents
  /// promise it nowhere; where this is false, whoever relies on it is reported.
  bool free_waits = true;
  /// Ranks are threads of one process: a global capture of one of them forbids the others what is
  /// unsafe. Else each rank is a process.
  bool one_process = false;
  /// Count the bytes that kernels touch: Report::kernels. REQUIRES: a checked world.
  bool count_bytes = false;
  /// Warnings are violations.
  bool strict = false;
  /// After a violation, run once more with the same choices, in a forked process whose output is
  /// dropped, to learn the lines of the program at which it happened.
  bool locate = true;
  /// What such a second run watches for: Report::sought of the first. A harness that keeps state
  /// outside of the world repeats that itself, with this and the first run's choices.
  std::optional<std::vector<Sought>> sought = std::nullopt;
  /// Allocations that fail although there is memory.
  std::vector<AllocationFailure> allocation_failures = {};
};

enum class EventKind {
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
  program_operation,  // announced with note_operation(); lasts until the next
  note,               // of note_event(); takes no time
  violation,          // likewise, of one that is about no access
};

/// Which copy engine moves the bytes.
enum class CopyPath : std::uint8_t { none, host_to_device, device_to_host, device_to_device };

/// One line of the trace. Those of one track do not overlap, or lie one within the other.
struct Event {
  EventKind kind = EventKind::call;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  int rank = 0;
  std::uint32_t track = 0;  // of a host or a stream, whose names need not differ
  std::string stream = "";  // "host" for a host
  std::string name = "";
  int device = -1;                        // of a stream
  int operation = -1;                     // of the host program
  std::uint64_t bytes = 0;                // of a copy, a fill, a collective
  CopyPath path = CopyPath::none;         // of a copy
  std::vector<std::uint32_t> after = {};  // numbers of events: who enqueued it, what it waited for
  int meeting = -1;                       // the members of one collective have one number
  bool enqueues = false;                  // a call that gave streams work
  bool unfinished = false;                // when the run ended
};

/// What all launches of a kernel touched together of simulated memory, a byte as often as it was
/// accessed. An atomic access counts by itself.
struct KernelBytes {
  std::string kernel;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t atomic = 0;
};

struct Report {
  std::vector<Violation> violations;   // in the order found; one per pair of kernels and edge
  std::vector<Violation> warnings;     // in the order found; none where Options::strict
  std::vector<std::uint32_t> choices;  // replays this run; empty where they were too many to keep
  bool choices_forgotten = false;      // then the schedule's seed replays it
  std::uint64_t digest = 0;            // over seed, choices and history
  /// Over what the ranks learn: the bytes that copies bring to the host, in checked worlds, and
  /// what note_result() was given. Schedules have different ones where values depend on the
  /// schedule.
  std::uint64_t values_digest = 0;
  std::uint64_t simulated_ns = 0;
  std::size_t device_peak_bytes = 0;  // of the fullest device
  std::size_t pinned_peak_bytes = 0;
  int ranks = 0;
  bool checked = false;
  int schedules = 1;         // of explore(): how many ran
  int different_values = 1;  // of explore(): how many values_digest there were among them
  std::vector<std::int64_t> allocation_calls;  // by rank: as AllocationFailure counts them
  std::uint64_t operations = 0;                // asynchronous operations executed
  std::uint64_t accesses = 0;        // loads and stores of instrumented code in simulated memory
  std::vector<KernelBytes> kernels;  // where bytes were counted, by name
  std::vector<Event> trace;          // what an event comes after stands before it
  std::uint32_t agents = 0;          // hosts and streams among which the schedule chose
  std::uint64_t steps = 0;           // at which there were several of them to choose from
  CoverageMarks marks;               // of what hardware leaves open
  std::vector<Sought> sought;        // what a second run has to watch for, to name lines
  std::string unlocated = "";  // why violations have no lines, where a second run could not tell
  bool ok() const { return violations.empty(); }
};

/// Runs `main(rank)` for every rank to its end in a fresh world.
///
/// Errors: an exception that leaves `main` ends the world (every simulated call of the other ranks
/// then fails at once) and is rethrown here after all ranks have unwound; the first one wins.
/// A deadlock ends the world and is a violation (order.deadlock). REQUIRES: not inside a run.
Report run(int ranks, std::function<void(int rank)> const& main, Options const& options = {});

/// Runs up to `schedules` schedules: fifo first, then random and pct by turns, with seeds derived
/// from options.schedule.seed. Stops at the first run with a violation and returns its report,
/// else the last one's, with the warnings of all.
Report explore(int ranks, std::function<void(int rank)> const& main, int schedules,
               Options const& options = {});

/// Adds what one more world of a program broke to what the worlds before it broke. What several of
/// them show alike is one violation, the first of them, with the counts and ranks of all; leaks are
/// alike where the line is that made them. For a harness whose program goes on from world to world;
/// the numbers of its own violations (Violation::number) have to count through all worlds.
void fold(std::vector<Violation>& found, std::vector<Violation> more);

/// The least chance with which one pct schedule of that depth meets a bug that needs just so many
/// orderings to come together, in a world with so many agents and steps (Report). 0 where nothing
/// is known: of longer worlds than the change points of a schedule reach.
/// Source: Burckhardt et al. 2010: 1 / (n k^(d - 1)). Their k is given; here it is drawn
/// for each schedule (world/strategies/pct.cpp), so this is the mean over what may be drawn.
double pct_chance(int depth, std::uint32_t agents, std::uint64_t steps);

/// "main.cu:12 in train, from main.cu:30, main.cu:55"; empty where it is not known.
std::string describe(Location const& location);
/// One report as text: each violation with both accesses and the missing edge, the warnings, and
/// what was done where nothing was found.
std::string describe(Report const& report);

// ---- inside a run: what a harness may ask. None of these but barrier()
//      order anything for the race checker. ----

/// Is the calling code inside run()?
bool inside();
/// The calling rank.
int current_rank();
/// Executes everything that is enqueued anywhere and can execute, without giving any host the right
/// to rely on it: a host that should have waited is still reported.
void settle();
/// Waits for all ranks, then one of them calls `once` while the others wait.
void meet(std::function<void()> const& once = {});
/// Waits for all ranks and orders them, as a barrier of the host program would.
void barrier();
/// Runs `body(chunk)` for every chunk of [0, chunks), as threads that the rank's host code starts
/// here and waits for: each knows what the host knows, none knows of another one, and the host
/// knows all of them afterwards. In a checked world they run one after the other, in an order that
/// is asked of the schedule; in an unchecked one on Options::threads.
///
/// REQUIRES: `body` throws nothing. A simulated call inside of it is refused
/// (cudaErrorNotPermitted), whether the world is checked or not.
void parallel_for(int chunks, std::function<void(int chunk)> const& body);
/// Ends the world: every further simulated call of every rank returns an error at once.
void end_world();
/// Announces which operation of the host program this rank is at, for reports; its name is for the
/// trace.
void note_operation(int index, std::string_view name = "operation");
/// Names for reports. A buffer's name goes with its allocation.
void name_buffer(void const* address, std::string_view name);
void name_stream(void const* stream, std::string_view name);
/// Adds a value to both digests.
void note_result(std::uint64_t value);
/// Adds an event of the harness, as a file operation or an injected fault, to history: to the
/// digest, and to the trace where one is kept.
void note_event(std::string_view name, std::uint64_t value = 0);
/// Which of `count` equally possible outcomes of the harness' own happens: chosen, recorded and
/// replayed as everything that is left open. REQUIRES: count >= 1.
std::uint32_t choose(std::uint32_t count);
/// Lets the scheduler choose who goes on. False: the world has ended.
bool yield();
/// A memcpy of the calling rank's host code, judged as one: for harness code that moves bytes on
/// its behalf, as a write to a file does.
void copy_watched(void* to, void const* from, std::size_t bytes);
/// Announces what a setting of the calling rank's program (a learning rate, say) is from now on. A
/// graph that holds the value of an earlier time among its kernels' arguments is reported when it
/// is launched (graph.scalar). Values with few significant bits, such as 0.5, cannot be recognised.
void note_setting(std::string_view name, float value);
/// Adds a violation that a harness found.
void report(Violation violation);

struct LiveAllocation {
  void const* address = nullptr;
  std::size_t bytes = 0;  // asked for
  int rank = 0;           // who allocated
  bool on_host = false;
};
/// All live allocations of this world, by address.
std::vector<LiveAllocation> live_allocations();

/// What was made in this world, and not destroyed, of each kind of handle.
struct LiveHandles {
  std::int64_t streams = 0;
  std::int64_t events = 0;
  std::int64_t graphs = 0;
  std::int64_t executable_graphs = 0;
  std::int64_t communicators = 0;
  friend bool operator==(LiveHandles const&, LiveHandles const&) = default;
};
LiveHandles live_handles();

}  // namespace adamant::sim
