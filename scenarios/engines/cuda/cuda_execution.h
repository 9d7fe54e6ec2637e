// One world of a run on GPUs: ranks are host threads. Accesses and orders go unjudged; who starts
// the next world is cuda_engine.cpp.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "real/comm/rendezvous_of_threads.h"
#include "real/offload/thread_crew.h"
#include "scenarios/engines/cuda/cuda_world.h"
#include "scenarios/engines/cuda/machine.h"
#include "scenarios/engines/execution.h"

namespace adamant::scenarios {

/// How many ranks the world has that begins there.
int ranks_of(EngineTask const& task, WorldStart const& start);

class CudaExecution final : public Execution {
 public:
  /// REQUIRES: `placement` is for as many ranks as the world has; all that is referred to outlives
  /// it.
  CudaExecution(RunParts const& run, WorldStart const& start, Placement const& placement);

  /// False where a rank failed and another one was left, which may wait for it on a device: then
  /// this has to stay to the end of the process, which is spoilt.
  ///
  /// Errors: rethrows what the observer threw.
  bool run();

 private:
  WorldOfRanks& world() override { return world_; }
  void meet(int rank, std::function<void()> const& once) override;
  void one_at_a_time(std::function<void()> const& body) override;

  void rank_main(int rank);
  void execute_program(int rank);
  void fail(int rank, std::exception const& error);
  /// Of the calling thread. Looking at ranks selects those of others.
  void select_device(int rank) const;

  real::RendezvousOfThreads rendezvous_;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_;  // of bodies that one rank executes at a time, failures among them
  std::deque<real::ThreadCrew> workers_;  // by rank
  CudaWorld world_;
};

}  // namespace adamant::scenarios
