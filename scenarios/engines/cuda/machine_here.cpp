// What CUDA and NCCL say of this machine.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>

#include "scenarios/engines/cuda/machine.h"
#include "scenarios/pool/pool.h"

namespace adamant::scenarios {

namespace {

/// For a driver that does not come back.
constexpr std::chrono::seconds asked_for_max{60};

int attribute(cudaDeviceAttr which, int gpu) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, gpu) == cudaSuccess ? value : 0;
}

Machine asked_here() {
  Machine machine{.built_nccl = NCCL_VERSION_CODE};
  static_cast<void>(cudaRuntimeGetVersion(&machine.runtime));
  static_cast<void>(cudaDriverGetVersion(&machine.driver));
  static_cast<void>(ncclGetVersion(&machine.nccl));
  int gpus = 0;
  cudaError_t const error = cudaGetDeviceCount(&gpus);
  if (error != cudaSuccess && error != cudaErrorNoDevice) machine.error = cudaGetErrorName(error);
  for (int gpu = 0; error == cudaSuccess && gpu < gpus; ++gpu)
    machine.gpus.push_back(10 * attribute(cudaDevAttrComputeCapabilityMajor, gpu) +
                           attribute(cudaDevAttrComputeCapabilityMinor, gpu));
  return machine;
}

Machine asked_elsewhere() {
  Machine machine;
  run_jobs(
      {.workers = 1, .jobs = 1, .until = {}, .job_time_max = asked_for_max},
      [](std::uint64_t) { return to_line(asked_here()); },
      [&](JobEnd const& end) {
        machine = end.answer ? machine_from(*end.answer) : Machine{.error = end.death};
      });
  return machine;
}

}  // namespace

Machine const& machine_here() {
  static Machine const machine = asked_elsewhere();
  return machine;
}

}  // namespace adamant::scenarios
