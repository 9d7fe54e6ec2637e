#include "sim/one_run.h"

#include <cstddef>

#include "sim/cuda/foreign_calls.h"
#include "sim/cuda/region.h"
#include "sim/cuda/runtime.h"
#include "sim/meetings.h"
#include "sim/nccl/state.h"
#include "sim/run_report.h"
#include "sim/world/fault.h"

namespace adamant::sim {
namespace {

// Kept between runs: its storage serves the next world. Never destroyed, because a process may end
// in the middle of a run.
Runtime*& storage() {
  static Runtime* runtime = new Runtime;
  return runtime;
}

void reset(Runtime& runtime, int ranks, Options const& options) {
  int const devices = options.devices > 0 ? options.devices : ranks;
  runtime.watch.reset(options.checked, options.count_bytes);
  runtime.hosts.assign(static_cast<std::size_t>(ranks), {});
  for (int rank = 0; rank < ranks; ++rank) {
    runtime.hosts[static_cast<std::size_t>(rank)].device = rank % devices;
  }
  runtime.devices.assign(static_cast<std::size_t>(devices), {});
  runtime.events.clear();
  runtime.destroyed_events.clear();
  runtime.captures.clear();
  runtime.captures_begun = 0;
  runtime.graphs.clear();
  runtime.execs.clear();
  runtime.settings.clear();
  nccl_state().reset(ranks);
  runtime.pools.clear();
  forget_meetings();
}

// Of CUDA's objects, and of memory that a stream has released.
void hold_tickets(Runtime& runtime) {
  auto const hold = [](Ticket* ticket) {
    if (ticket != nullptr) ticket->held = true;
  };
  for (EventObject const& event : runtime.events)
    if (event.destroyed_by == 0) hold(event.recorded);
  for (GraphExec const& exec : runtime.execs) hold(exec.last_launch);
  runtime.memory.for_each_release(hold);
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

}  // namespace

Ended run_once(int ranks, std::function<void(int)> const& main, Options const& options) {
  ADAMANT_SIM_ASSERT(current_runtime == nullptr);
  Region::reserve();  // what follows ends by giving pages back
  Runtime& runtime = *storage();
  reset(runtime, ranks, options);
  struct Scope {
    Runtime& runtime;
    ~Scope() {
      runtime.memory.clear();
      runtime.world.dismiss_crew();
      current_runtime = nullptr;
      runs_world = false;
      active_watch = nullptr;
    }
  } const scope{runtime};
  current_runtime = &runtime;
  runs_world = true;
  begin_foreign_calls();
  watch_faults(judge_fault);
  runtime.world.prepare(options, runtime.watch);
  runtime.world.set_holders([&runtime] { hold_tickets(runtime); });
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

void leave_world() {
  current_runtime->memory.clear();
  current_runtime = nullptr;
  storage() = new Runtime;
}

}  // namespace adamant::sim
