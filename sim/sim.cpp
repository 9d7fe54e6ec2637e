#include "sim/sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/broken_off.h"
#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"
#include "sim/nccl/state.h"
#include "sim/second_run.h"
#include "sim/world/fault.h"

namespace adamant::sim {
namespace {

// Kept between runs: its storage serves the next world. Never destroyed, because a process may end
// in the middle of a run.
Runtime*& storage() {
  static Runtime* runtime = new Runtime;
  return runtime;
}

// The ranks that have arrived at meet() or barrier().
struct Meetings {
  std::vector<Host*> arrived;
  VectorClock known;
};
Meetings meetings;

Runtime& inside_or_abort() {
  ADAMANT_SIM_ASSERT(current_runtime != nullptr);
  ADAMANT_SIM_ASSERT(current_runtime->world.host() != nullptr);
  return *current_runtime;
}

// What a harness function does is no access of the program.
class Unwatched {
 public:
  Unwatched() : kept_(std::exchange(active_watch, nullptr)) {}
  ~Unwatched() { active_watch = kept_; }
  Unwatched(Unwatched const&) = delete;
  Unwatched& operator=(Unwatched const&) = delete;

 private:
  Watch* kept_;
};

// Waits for all ranks; true for the one that arrives last, which the others then wait for.
bool gather(Runtime& runtime, char const* where) {
  World& world = runtime.world;
  if (meetings.arrived.size() + 1 == world.hosts().size()) return true;
  meetings.arrived.push_back(world.host());
  world.block(where);
  return false;
}

void release(Runtime& runtime) {
  for (Host* host : meetings.arrived) runtime.world.wake(*host);
  meetings.arrived.clear();
}

void reset(Runtime& runtime, int ranks, Options const& options) {
  int const devices = options.devices > 0 ? options.devices : ranks;
  runtime.watch.reset(options.checked);
  runtime.hosts.assign(static_cast<std::size_t>(ranks), {});
  for (int rank = 0; rank < ranks; ++rank) {
    runtime.hosts[static_cast<std::size_t>(rank)].device = rank % devices;
  }
  runtime.devices.assign(static_cast<std::size_t>(devices), {});
  runtime.events.clear();
  runtime.captures.clear();
  runtime.captures_begun = 0;
  runtime.graphs.clear();
  runtime.execs.clear();
  runtime.settings.clear();
  nccl_state().reset(ranks);
  runtime.pools.clear();
  meetings.arrived.clear();
  meetings.known.clear();
}

// Kernels have the names of their functions, which only a table of symbols tells.
std::vector<Event> trace_of(World& world) {
  std::map<void const*, std::string> names;
  auto const describe = [&](Event& event, std::uint32_t operation) {
    OperationRecord const& record = world.record(operation);
    event.operation = record.program_operation;
    event.bytes = record.bytes;
    event.name = record.name;
    if (record.function == nullptr) return;
    std::string& name = names[record.function];
    if (name.empty()) name = symbol_name(record.function);
    event.name = name;
  };
  std::map<std::uint32_t, std::string> streams;
  for (Stream const& stream : world.streams()) streams[stream.index] = stream.name;
  std::vector<Event> trace = world.timeline().take(world.simulated_ns(), describe);
  for (Event& event : trace) {
    auto const stream = streams.find(event.track);
    event.stream = stream == streams.end() ? "host" : stream->second;
  }
  return trace;
}

Report report_of(Runtime& runtime) {
  judge_unseen(runtime);
  Report report;
  report.violations = std::move(runtime.world.violations());
  report.choices = runtime.world.choices().record();
  report.digest = runtime.world.digest();
  report.values_digest = runtime.world.values_digest();
  report.ranks = runtime.world.ranks();
  report.checked = runtime.watch.enabled();
  report.warnings = std::move(runtime.world.warnings());
  report.simulated_ns = runtime.world.simulated_ns();
  for (int slot = 1; slot < runtime.memory.slots(); ++slot) {
    report.device_peak_bytes =
        std::max<std::size_t>(report.device_peak_bytes, runtime.memory.peak_bytes(slot));
  }
  report.pinned_peak_bytes = runtime.memory.peak_bytes(0);
  for (HostState const& host : runtime.hosts)
    report.allocation_calls.push_back(host.allocation_calls);
  report.operations = runtime.world.executed();
  report.accesses = runtime.watch.accesses();
  if (runtime.world.timeline().on()) report.trace = trace_of(runtime.world);
  report.agents = runtime.world.agent_count();
  report.steps = runtime.world.choices().steps();
  report.marks = runtime.world.choices().marks();
  report.sought = runtime.world.locations().take_asked();
  return report;
}

// What runs now is left where it is: an access that was refused cannot be unwound.
Fiber* judge_fault(Fault const& fault) {
  Runtime* const runtime = current_runtime;
  if (runtime == nullptr || runtime->world.running() == nullptr) return nullptr;
  active_watch = nullptr;
  runtime->watch.report_fault(fault);
  runtime->world.end();
  return runtime->world.running();
}

/// How a run ended: where an exception left a rank, there is a report as well.
struct Ended {
  Report report;
  std::exception_ptr failure;
};

Ended run_once(int ranks, std::function<void(int)> const& main, Options const& options) {
  ADAMANT_SIM_ASSERT(current_runtime == nullptr);
  Runtime& runtime = *storage();
  reset(runtime, ranks, options);
  struct Scope {
    Runtime& runtime;
    ~Scope() {
      runtime.memory.clear();
      runtime.world.dismiss_crew();
      current_runtime = nullptr;
      active_watch = nullptr;
    }
  } const scope{runtime};
  current_runtime = &runtime;
  runs_world = true;
  watch_faults(judge_fault);
  runtime.world.prepare(options, runtime.watch);
  runtime.memory.reset(runtime.world, static_cast<int>(runtime.devices.size()));
  Ended ended;
  try {
    runtime.world.run(ranks, [&](int rank) {
      {
        Instrumented const instrumented(runtime.watch);
        main(rank);
      }
      judge_open_group(runtime);
    });
    judge_leaks(runtime);
  } catch (...) {
    ended.failure = std::current_exception();
  }
  ended.report = report_of(runtime);
  return ended;
}

Report report_so_far() {
  active_watch = nullptr;
  return report_of(*current_runtime);
}

// The next run of this process, which is about to end inside of a run, is in another world.
void leave_world() {
  current_runtime->memory.clear();
  current_runtime = nullptr;
  storage() = new Runtime;
}

void locate(Report& report, int ranks, std::function<void(int)> const& main,
            Options const& options) {
  bool const has_lines = !report.ok() || !report.warnings.empty();
  if (!options.locate || options.sought || !has_lines) return;
  Options again = options;
  again.sought = report.sought;
  again.schedule.choices = report.choices;
  locate_in_child(
      report, [&] { return run_once(ranks, main, again).report; }, report_so_far);
}

void print_before_the_end(Report const& report, std::string_view how) {
  if (report.ok() && report.warnings.empty()) return;
  std::string const text = fmt::format("adamant: the program {} after {}:\n{}", how,
                                       report.ok() ? "warnings" : "violations", describe(report));
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Report run(int ranks, std::function<void(int)> const& main, Options const& options) {
  auto const break_off = [&] {
    Report report = report_so_far();
    leave_world();
    locate(report, ranks, main, options);
    print_before_the_end(report, "ends its process");
  };
  bool const announces = options.announce && !options.sought;
  std::optional<AtBreakOff> at_break_off;
  if (announces) at_break_off.emplace(break_off);
  Ended ended = run_once(ranks, main, options);
  at_break_off.reset();
  locate(ended.report, ranks, main, options);
  if (ended.failure == nullptr) return std::move(ended.report);
  if (announces) print_before_the_end(ended.report, "throws an exception");
  std::rethrow_exception(ended.failure);
}

Report explore(int ranks, std::function<void(int)> const& main, int schedules,
               Options const& options) {
  Report report;
  std::set<std::uint64_t> values;
  std::vector<Violation> warnings;
  for (int i = 0; i < schedules; ++i) {
    Options next = options;
    next.schedule.strategy = i == 0       ? Strategy::fifo
                             : i % 2 == 1 ? Strategy::random
                                          : Strategy::pct;
    next.schedule.seed = mix64(options.schedule.seed + static_cast<std::uint64_t>(i));
    next.locate = options.locate && warnings.empty();  // which have their lines already
    report = run(ranks, main, next);
    values.insert(report.values_digest);
    report.schedules = i + 1;
    report.different_values = static_cast<int>(values.size());
    if (!report.ok() && !next.locate) {
      next.locate = options.locate;
      locate(report, ranks, main, next);
    }
    if (warnings.empty()) warnings = report.warnings;
    if (!report.ok()) break;
  }
  report.warnings = std::move(warnings);
  return report;
}

bool inside() {
  return current_runtime != nullptr && current_runtime->world.host() != nullptr;
}

int current_rank() {
  return inside_or_abort().world.host()->rank;
}

void settle() {
  Unwatched const unwatched;
  inside_or_abort().world.wait_for_quiet();
}

void meet(std::function<void()> const& once) {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  if (runtime.world.ended() || !gather(runtime, "meet()")) return;
  if (!runtime.world.wait_for_quiet()) return;
  if (once) once();
  release(runtime);
}

void barrier() {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  if (runtime.world.ended()) return;
  meetings.known.join(runtime.world.host()->clock);
  runtime.world.advance_host();
  if (gather(runtime, "barrier()")) {
    for (Host* host : meetings.arrived) host->clock.join(meetings.known);
    runtime.world.host()->clock.join(meetings.known);
    meetings.known.clear();
    release(runtime);
  }
}

void parallel_for(int chunks, std::function<void(int chunk)> const& body) {
  Watch* const watch = active_watch;
  Unwatched const unwatched;
  World& world = inside_or_abort().world;
  if (!world.options().checked) {
    auto const count = static_cast<std::size_t>(std::max(chunks, 0));
    return world.crew().share(
        count, [&](std::size_t chunk, std::size_t) { body(static_cast<int>(chunk)); });
  }
  world.run_chunks(chunks, [&](int chunk) {
    active_watch = watch;
    body(chunk);
    active_watch = nullptr;
  });
}

void end_world() {
  Unwatched const unwatched;
  inside_or_abort().world.end();
}

void note_operation(int index, std::string_view name) {
  Unwatched const unwatched;
  World& world = inside_or_abort().world;
  Host& host = *world.host();
  world.advance_host();
  host.program_operation = index;
  world.timeline().announce(host, index, name);
  host.record = world.add_record(
      {.rank = host.rank, .program_operation = index, .agent = host.index, .name = "host code"});
  world.advance_host();
}

void name_buffer(void const* address, std::string_view name) {
  Unwatched const unwatched;
  if (Allocation* const allocation = inside_or_abort().memory.find_live(address)) {
    allocation->name = name;
  }
}

void name_stream(void const* stream, std::string_view name) {
  Unwatched const unwatched;
  auto* const handle = static_cast<cudaStream_t>(const_cast<void*>(stream));
  if (Stream* const named = stream_of(inside_or_abort(), handle)) named->name = name;
}

void note_result(std::uint64_t value) {
  World& world = inside_or_abort().world;
  world.mix(value);
  world.learn(value);
}

void note_event(std::string_view name, std::uint64_t value) {
  World& world = inside_or_abort().world;
  for (char const c : name) world.mix(static_cast<unsigned char>(c));
  world.mix(value);
  world.timeline().note(*world.host(), name);
}

std::uint32_t choose(std::uint32_t count) {
  return inside_or_abort().world.choices().pick(count);
}

bool yield() {
  Unwatched const unwatched;
  return inside_or_abort().world.yield();
}

void note_setting(std::string_view name, float value) {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  Host const& host = *runtime.world.host();
  Setting setting{.rank = host.rank,
                  .name = std::string(name),
                  .bits = std::bit_cast<std::uint32_t>(value),
                  .program_operation = host.program_operation};
  for (Setting& known : runtime.settings) {
    if (known.rank != setting.rank || known.name != setting.name) continue;
    known = std::move(setting);
    return;
  }
  runtime.settings.push_back(std::move(setting));
}

void report(Violation violation) {
  Unwatched const unwatched;
  inside_or_abort().world.add_violation(std::move(violation));
}

std::vector<LiveAllocation> live_allocations() {
  Unwatched const unwatched;
  auto const live = inside_or_abort().memory.live();
  std::vector<LiveAllocation> result;
  result.reserve(live.size());
  for (Allocation const* allocation : live) {
    result.push_back({region_address(allocation->begin), allocation->bytes, allocation->rank,
                      allocation->kind == AllocationKind::pinned});
  }
  return result;
}

LiveHandles live_handles() {
  Unwatched const unwatched;
  Runtime& runtime = inside_or_abort();
  auto const count = [](auto const& objects) {
    return std::count_if(objects.begin(), objects.end(),
                         [](auto const& object) { return !object.destroyed; });
  };
  // An aborted communicator is gone as well. Default streams are nobody's.
  auto const& members = nccl_state().members;
  return {
      .streams = std::count_if(
          runtime.world.streams().begin(), runtime.world.streams().end(),
          [](Stream const& stream) { return stream.made_by_call && !stream.destroyed; }),
      .events = count(runtime.events),
      .graphs = count(runtime.graphs),
      .executable_graphs = count(runtime.execs),
      .communicators = std::count_if(members.begin(), members.end(), [](ncclComm const& member) {
        return !member.destroyed && !member.aborted;
      })};
}

}  // namespace adamant::sim
