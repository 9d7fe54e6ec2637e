#include "sim/cuda/foreign_calls.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "sim/world/world.h"

namespace adamant::sim {
namespace {

struct Refused {
  std::int64_t count = 0;
  Stack first;
};

struct ForeignCalls {
  std::mutex mutex;
  bool run_goes_on = false;
  std::map<std::string, Refused> refused;  // by name, because who comes first is no choice of ours
};

// Never destroyed: a thread may outlive main(). A process that is forked while some thread is in
// here must not find the mutex locked for ever: the second run is such a process.
ForeignCalls& foreign_calls() {
  static auto* const calls = [] {
    static auto* const made = new ForeignCalls;
    auto const release = [] { made->mutex.unlock(); };
    pthread_atfork([] { made->mutex.lock(); }, release, release);
    return made;
  }();
  return *calls;
}

std::string words_for(std::string const& call) {
  bool const launches = call.starts_with("adamant_sim_launch");  // what <<<...>>> is made of
  return fmt::format(
      "a thread that is no rank's {}, which is refused: start threads with "
      "adamant::sim::parallel_for, and call from the rank",
      launches ? "launches a kernel" : "calls " + call);
}

}  // namespace

void begin_foreign_calls() {
  ForeignCalls& calls = foreign_calls();
  std::lock_guard const lock(calls.mutex);
  calls.refused.clear();
  calls.run_goes_on = true;
}

cudaError_t refuse_foreign_call(char const* call) {
  ForeignCalls& calls = foreign_calls();
  std::lock_guard const lock(calls.mutex);
  if (!calls.run_goes_on) return cudaErrorNoDevice;
  Refused& refused = calls.refused[call];
  if (++refused.count == 1) refused.first = stack_here();
  return cudaErrorNotSupported;
}

void judge_foreign_calls(World& world) {
  ForeignCalls& calls = foreign_calls();
  std::lock_guard const lock(calls.mutex);
  calls.run_goes_on = false;
  for (auto const& [call, refused] : std::exchange(calls.refused, {})) {
    Violation found;
    found.law = Law::error_thread;
    found.breach = Breach::foreign_thread;
    found.about = call;
    found.rank = Violation::no_rank;
    found.message = words_for(call);
    found.count = refused.count;
    found.at = location_of(refused.first);
    world.add_violation(std::move(found));
  }
}

}  // namespace adamant::sim
