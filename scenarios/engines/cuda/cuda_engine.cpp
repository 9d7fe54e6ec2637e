#include "scenarios/engines/cuda/cuda_engine.h"

#include "real/testing/shared_gpus.h"
#include "scenarios/engines/cuda/cuda_execution.h"
#include "scenarios/engines/cuda/cuda_files.h"
#include "scenarios/engines/cuda/machine.h"

namespace adamant::scenarios {

namespace {

Placement placement_of(EngineTask const& task, int ranks) {
  if (!task.loopback) return place(machine_here(), ranks);
  return {.devices = std::vector<int>(static_cast<std::size_t>(ranks), 0), .loopback = true};
}

/// One world after the other.
EngineEnd execute_worlds(RunParts const& run) {
  EngineEnd end;
  std::optional<WorldStart> start = WorldStart{.walk = ProgramWalk(run.task.program)};
  while (start) {
    auto world = std::make_unique<CudaExecution>(
        run, *start, placement_of(run.task, ranks_of(run.task, *start)));
    bool const ended = world->run();
    end.failure = world->failure();
    end.violations.insert(end.violations.end(), world->found().begin(), world->found().end());
    end.notes.insert(end.notes.end(), world->notes().begin(), world->notes().end());
    if (!ended) {
      end.notes.push_back("a rank was left that did not end after that");
      static_cast<void>(world.release());  // its threads still have it
      return end;
    }
    start = world->next();
  }
  return end;
}

}  // namespace

EngineEnd CudaEngine::execute(EngineTask const& task, Observer& observer) {
  if (task.scenario.bug) throw MachineLacks("the engine for GPUs has no bugs compiled in");
  if (std::string const missing = lacks(machine_here()); !missing.empty())
    throw MachineLacks(missing);
  if (machine_here().nccl >= real::nccl_that_shares_gpus) real::prepare_to_share_gpus();
  CudaFiles files(task);
  return execute_worlds({*adamant_engine_cuda(), task, observer, files});
}

}  // namespace adamant::scenarios
