#include "sim/cuda/unseen.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/cuda/runtime.h"

namespace adamant::sim {

void see_last_error(Runtime& runtime) {
  std::erase_if(runtime.host().unseen, [](UnseenError const& one) { return one.is_last_error; });
}

namespace {

void judge_unseen_of(Runtime& runtime, int rank) {
  auto& unseen = runtime.hosts[static_cast<std::size_t>(rank)].unseen;
  for (UnseenError const& one : std::exchange(unseen, {})) {
    Violation found;
    found.law = Law::error_unseen;
    found.breach = Breach::unseen_error;
    found.about = one.call;
    found.rank = rank;
    found.operation = one.program_operation;
    found.message = fmt::format("{} returned {}, and nobody looked at it", one.call, one.error);
    found.at = runtime.world.locations().line_of(one.operation);
    runtime.world.add_violation(std::move(found));
  }
}

}  // namespace

void judge_unseen(Runtime& runtime) {
  for (int rank = 0; rank < runtime.world.ranks(); ++rank) judge_unseen_of(runtime, rank);
}

void judge_leaks(Runtime& runtime) {
  if (runtime.world.ended()) return;
  for (Allocation const* allocation : runtime.memory.live()) {
    Violation found;
    found.law = Law::memory_leak;
    found.breach = Breach::never_freed;
    found.about = allocation->name;
    found.rank = allocation->rank;
    found.operation = runtime.world.record(allocation->made_by).program_operation;
    found.message = fmt::format("{} of {} bytes, made by {}, is never freed",
                                allocation->name.empty() ? "a buffer" : allocation->name,
                                allocation->bytes, runtime.world.record(allocation->made_by).name);
    found.bytes = allocation->bytes;
    found.at = runtime.world.locations().line_of(allocation->made_by);
    runtime.world.add_violation(std::move(found));
  }
}

}  // namespace adamant::sim

using namespace adamant::sim;

void adamant_sim_dropped(char const* call, char const* error, bool is_last_error) {
  Runtime* const runtime = runs_world ? current_runtime : nullptr;
  if (runtime == nullptr) return;
  Host const* const host = runtime->world.host();
  if (host == nullptr || runtime->world.ended()) return;
  std::uint32_t const record = record_call(*runtime, OperationKind::host, "host code");
  runtime->host().unseen.push_back({call, error, is_last_error, record, host->program_operation});
}
