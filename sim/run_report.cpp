#include "sim/run_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/cuda/foreign_calls.h"

namespace adamant::sim {
namespace {

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

}  // namespace

Report report_of(Runtime& runtime) {
  judge_unseen(runtime);
  judge_foreign_calls(runtime.world);
  Report report;
  report.violations = std::move(runtime.world.violations());
  report.choices = runtime.world.choices().record();
  report.choices_forgotten = runtime.world.choices().forgotten();
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
  report.kernels = runtime.watch.kernel_bytes();
  if (runtime.world.timeline().on()) report.trace = trace_of(runtime.world);
  report.agents = runtime.world.agent_count();
  report.steps = runtime.world.choices().steps();
  report.marks = runtime.world.choices().marks();
  report.sought = runtime.world.locations().take_asked();
  return report;
}

}  // namespace adamant::sim
