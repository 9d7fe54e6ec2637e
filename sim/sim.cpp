#include "sim/sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"
#include "sim/nccl/state.h"
#include "sim/second_run.h"
#include "sim/world/fault.h"

namespace adamant::sim {
namespace {

// Kept between runs: its storage serves the next world.
Runtime& storage() {
  static Runtime runtime;
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

Report report_of(Runtime& runtime) {
  Report report;
  report.violations = std::move(runtime.world.violations());
  report.choices = runtime.world.choices().record();
  report.digest = runtime.world.digest();
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
  report.trace = std::move(runtime.world.trace());
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

Report run_once(int ranks, std::function<void(int)> const& main, Options const& options) {
  ADAMANT_SIM_ASSERT(current_runtime == nullptr);
  Runtime& runtime = storage();
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
  watch_faults(judge_fault);
  runtime.world.prepare(options, runtime.watch);
  runtime.memory.reset(runtime.world, static_cast<int>(runtime.devices.size()));
  runtime.world.run(ranks, [&](int rank) {
    {
      Instrumented const instrumented(runtime.watch);
      main(rank);
    }
    judge_open_group(runtime);
  });
  return report_of(runtime);
}

}  // namespace

Report run(int ranks, std::function<void(int)> const& main, Options const& options) {
  Report report = run_once(ranks, main, options);
  if (!options.locate || options.sought || report.ok()) return report;
  Options again = options;
  again.sought = report.sought;
  again.schedule.choices = report.choices;
  locate_in_child(report, [&] { return run_once(ranks, main, again); });
  return report;
}

Report explore(int ranks, std::function<void(int)> const& main, int schedules,
               Options const& options) {
  Report report;
  for (int i = 0; i < schedules; ++i) {
    Options next = options;
    next.schedule.strategy = i == 0       ? Strategy::fifo
                             : i % 2 == 1 ? Strategy::random
                                          : Strategy::pct;
    next.schedule.seed = mix64(options.schedule.seed + static_cast<std::uint64_t>(i));
    report = run(ranks, main, next);
    if (!report.ok()) break;
  }
  return report;
}

std::string describe(Location const& location) {
  if (!location.known()) return "";
  std::string text = fmt::format("{}:{}", location.file, location.line);
  if (!location.function.empty()) text += " in " + location.function;
  for (Location const& caller : location.callers) {
    text += &caller == &location.callers.front() ? ", from " : ", ";
    text += fmt::format("{}:{}", caller.file, caller.line);
  }
  return text;
}

namespace {

std::string line_of(std::string_view what, Location const& location) {
  return location.known() ? fmt::format("{} {}\n", what, describe(location)) : "";
}

// Both accesses of a conflict are of one buffer.
std::string describe_buffers(std::vector<Access> const& accesses) {
  std::string text;
  std::string last;
  for (Access const& access : accesses) {
    if (std::exchange(last, access.buffer) == access.buffer) continue;
    text += line_of("  allocated at", access.allocated_at);
    text += line_of("  freed at", access.freed_at);
  }
  return text;
}

}  // namespace

std::string describe(Report const& report) {
  std::string text;
  for (Violation const& violation : report.violations) {
    text +=
        fmt::format("{}: rank {}: {}\n", name_of(violation.law), violation.rank, violation.message);
    if (violation.waiting.empty()) text += line_of("  at", violation.at);
    for (Waiting const& waiting : violation.waiting) {
      text += line_of(fmt::format("  rank {} waits at", waiting.rank), waiting.at);
    }
    for (Access const& access : violation.accesses) {
      text += fmt::format("  {} of bytes {} to {} of {}\n    by {} on stream `{}` of rank {}\n",
                          access.kind, access.begin, access.end, access.buffer, access.operation,
                          access.stream, access.rank);
      text += line_of("    at", access.at);
      text += line_of("    enqueued at", access.enqueued_at);
    }
    text += describe_buffers(violation.accesses);
    if (!violation.missing.empty()) text += "  missing: " + violation.missing + "\n";
    if (violation.count > 1) {
      text += fmt::format("  found {} times, on {} {}\n", violation.count,
                          violation.ranks.size() == 1 ? "rank" : "ranks",
                          fmt::join(violation.ranks, ", "));
    }
  }
  if (!report.unlocated.empty()) text += "source lines are missing: " + report.unlocated + "\n";
  return text;
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

void note_operation(int index) {
  Unwatched const unwatched;
  World& world = inside_or_abort().world;
  Host& host = *world.host();
  world.advance_host();
  host.program_operation = index;
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
  inside_or_abort().world.mix(value);
}

void note_event(std::string_view name, std::uint64_t value) {
  World& world = inside_or_abort().world;
  for (char const c : name) world.mix(static_cast<unsigned char>(c));
  world.mix(value);
  if (!world.options().trace) return;
  Host const& host = *world.host();
  world.trace().push_back({host.now_ns, host.now_ns, host.rank, "host", std::string(name)});
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
