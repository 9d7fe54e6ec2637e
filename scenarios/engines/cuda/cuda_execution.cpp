#include "scenarios/engines/cuda/cuda_execution.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "scenarios/engines/cuda/rank_threads.h"

namespace adamant::scenarios {

int ranks_of(EngineTask const& task, WorldStart const& start) {
  return static_cast<int>(task.setting(start.setting()).world.rank_count());
}

CudaExecution::CudaExecution(RunParts const& run, WorldStart const& start,
                             Placement const& placement)
    : Execution(run, start, rendezvous_),
      rendezvous_(ranks_),
      world_({.mesh = mesh_of(parts_.setting.world),
              .parameters = run.task.parameters.size(),
              .has_rooms = true},
             run.files, placement.devices) {
  int const processors = static_cast<int>(std::thread::hardware_concurrency());
  for (int rank = 0; rank < ranks_; ++rank) workers_.emplace_back(std::max(1, processors / ranks_));
  if (placement.loopback) parts_.exchange = parts_.door.make_loopback_exchange(ranks_);
}

bool CudaExecution::run() {
  if (parts_.exchange == nullptr) parts_.nccl_id = parts_.door.make_nccl_id();
  auto const body = [this](int rank) { rank_main(rank); };
  auto const failed = [this] { return has_failed_.load(); };
  if (!run_on_threads(ranks_, body, failed)) {
    std::lock_guard const lock(mutex_);
    failure_->spoilt = true;
    return false;
  }
  conclude();
  return true;
}

void CudaExecution::rank_main(int rank) {
  try {
    execute_program(rank);
    world_.rank(rank).reset();
    rendezvous_.meet([&] { observer_.ended({}); });
  } catch (real::Abandoned const&) {
    world_.rank(rank).reset();
  } catch (std::exception const& error) {
    fail(rank, error);
    world_.rank(rank).reset();
  }
}

void CudaExecution::execute_program(int rank) {
  select_device(rank);
  make_engine(rank, {.rank = rank,
                     .world_size = ranks_,
                     .device = world_.device(rank),
                     .workers = &workers_[static_cast<std::size_t>(rank)]});
  show_start(rank);
  execute_all(rank);
  show(rank, [&] {
    if (failure_) return false;
    if (!elsewhere_) observer_.finished(world_);
    return true;
  });
}

void CudaExecution::meet(int rank, std::function<void()> const& once) {
  world_.rank(rank)->engine().synchronize();
  rendezvous_.meet(once);
  select_device(rank);
}

void CudaExecution::one_at_a_time(std::function<void()> const& body) {
  std::lock_guard const lock(mutex_);
  body();
}

void CudaExecution::fail(int rank, std::exception const& error) {
  EngineError const explained = parts_.door.explain(error);
  one_at_a_time([&] {
    if (!failure_) failure_ = failure_of(rank, explained);
    if (failure_->message != explained.message)
      add_note("rank " + std::to_string(rank) + " failed otherwise: " + explained.message);
    failure_->spoilt |= explained.spoils_process;
  });
  has_failed_ = true;
  rendezvous_.abandon();
}

void CudaExecution::select_device(int rank) const {
  cudaError_t const error = cudaSetDevice(world_.device(rank));
  if (error != cudaSuccess)
    throw std::runtime_error("cannot select device " + std::to_string(world_.device(rank)) + ": " +
                             cudaGetErrorName(error));
}

}  // namespace adamant::scenarios
