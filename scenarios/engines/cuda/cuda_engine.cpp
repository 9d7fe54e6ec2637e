#include "scenarios/engines/cuda/cuda_engine.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <thread>

#include "real/comm/rendezvous_of_threads.h"
#include "real/offload/thread_crew.h"
#include "scenarios/engines/cuda/cuda_world.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

int device_count() {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0)
    throw MachineLacks(std::string("engine `cuda` needs a GPU: ") + cudaGetErrorName(error));
  return count;
}

/// One execution: what its ranks share. Not the device memory limit: a GPU has its own.
class CudaExecution {
 public:
  CudaExecution(EngineTask const& task, Observer& observer, bool loopback, int ranks)
      : rendezvous_(ranks),
        observer_(observer),
        parts_{.door = *adamant_engine_cuda(),
               .task = task,
               .setting = task.scenario,
               .groups = adam_configs(task.scenario),
               .first = true,
               .storage = [](int) { return nullptr; },  // saves and loads are refused before
               .nccl_id = {},
               .rendezvous = &rendezvous_,
               .exchange = nullptr},
        ranks_(ranks),
        world_(mesh_of(task.scenario.world), devices(loopback, ranks)) {
    int const processors = static_cast<int>(std::thread::hardware_concurrency());
    for (int rank = 0; rank < ranks; ++rank) workers_.emplace_back(std::max(1, processors / ranks));
    if (loopback) parts_.exchange = parts_.door.make_loopback_exchange(ranks);
  }

  EngineEnd run();

 private:
  static std::vector<int> devices(bool loopback, int ranks) {
    std::vector<int> result(static_cast<std::size_t>(ranks), 0);
    for (int rank = 0; rank < ranks && !loopback; ++rank)
      result[static_cast<std::size_t>(rank)] = rank;
    return result;
  }

  void rank_main(int rank);
  void execute_program(int rank, int& entry);
  void fail(EngineFailure failure);
  /// All ranks' work is done; one rank lets the observer look.
  template <typename Look>
  void show(int rank, Look look);

  real::RendezvousOfThreads rendezvous_;
  Observer& observer_;
  WorldParts parts_;
  int ranks_;
  std::deque<real::ThreadCrew> workers_;  // by rank
  CudaWorld world_;
  bool go_on_ = true;  // written while all others wait
  std::mutex failure_mutex_;
  std::optional<EngineFailure> failure_;
  std::exception_ptr observer_error_;
};

EngineEnd CudaExecution::run() {
  if (parts_.exchange == nullptr) parts_.nccl_id = parts_.door.make_nccl_id();
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks_; ++rank)
      threads.emplace_back([this, rank] { rank_main(rank); });
  }
  if (observer_error_) std::rethrow_exception(observer_error_);
  EngineEnd end;
  end.failure = failure_;
  return end;
}

void CudaExecution::rank_main(int rank) {
  int entry = -1;
  try {
    execute_program(rank, entry);
    world_.rank(rank).reset();
    rendezvous_.meet([&] { observer_.ended({}); });
  } catch (real::Abandoned const&) {
    world_.rank(rank).reset();
  } catch (std::exception const& error) {
    EngineError const explained = parts_.door.explain(error);
    fail({.reason = explained.reason,
          .rank = rank,
          .operation = entry,
          .message = explained.message});
    world_.rank(rank).reset();
  }
}

void CudaExecution::execute_program(int rank, int& entry) {
  real::Workers& workers = workers_[static_cast<std::size_t>(rank)];
  RankPlace const place = {
      .rank = rank, .world_size = ranks_, .device = world_.device(rank), .workers = &workers};
  if (cudaSetDevice(place.device) != cudaSuccess)
    throw std::runtime_error("cannot select device " + std::to_string(place.device));
  world_.rank(rank) = std::make_unique<RankEngine>(parts_, place);
  show(rank, [&] { return observer_.started(world_); });

  ProgramWalk walk(parts_.task.program);
  while (go_on_) {
    auto const operation = walk.next();
    if (!operation) break;
    entry = operation->entry;
    world_.rank(rank)->perform(*operation);
    show(rank, [&] { return observer_.after(*operation, world_); });
  }
  entry = -1;
  show(rank, [&] {
    observer_.finished(world_);
    return true;
  });
}

template <typename Look>
void CudaExecution::show(int rank, Look look) {
  world_.rank(rank)->engine().synchronize();
  rendezvous_.meet([&] {
    world_.changed();
    try {
      if (!look()) go_on_ = false;
    } catch (...) {
      observer_error_ = std::current_exception();
      go_on_ = false;
    }
  });
  // Looking selects the device of whoever was looked at.
  static_cast<void>(cudaSetDevice(world_.device(rank)));
}

void CudaExecution::fail(EngineFailure failure) {
  {
    std::lock_guard const lock(failure_mutex_);
    if (!failure_) failure_ = std::move(failure);
  }
  rendezvous_.abandon();
}

}  // namespace

EngineEnd CudaEngine::execute(EngineTask const& task, Observer& observer) {
  if (task.scenario.bug) throw MachineLacks("the engine for GPUs has no bugs compiled in");
  int const ranks = static_cast<int>(task.scenario.world.rank_count());
  bool const loopback = task.loopback || device_count() < ranks;
  return CudaExecution(task, observer, loopback, ranks).run();
}

}  // namespace adamant::scenarios
