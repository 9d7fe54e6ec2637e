// The suites of a program that was linked with CUDA.
#include <cuda_runtime_api.h>

#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/suite.h"
#include "scenarios/bench/tensors_of_gpt2.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

std::vector<std::int64_t> gpt2_numels() {
  std::vector<std::int64_t> numels;
  for (ParameterSpec const& parameter : parameters_of_gpt2()) numels.push_back(parameter.numel());
  return numels;
}

template <void (*measure)(GpuSizes const&, SuiteRows&)>
void on_gpu(BenchOptions const&, SuiteRows& rows) {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0)
    throw MachineLacks(std::string("bench needs a GPU: ") + cudaGetErrorName(error));
  measure({.gpt2 = gpt2_numels()}, rows);
}

constexpr Suite all_suites[] = {
    {"gpu_step_over_copy", "the fused step in all formats, as a part of a copy's rate",
     on_gpu<measure_gpu_step>},
    {"gpu_passes_over_copy", "mean, cast, look and squares, as parts of a copy's rate",
     on_gpu<measure_gpu_passes>},
    {"gpu_quantise_over_copy", "the reads of each recipe, as parts of a copy's rate",
     on_gpu<measure_gpu_quantise>},
    {"gpu_step_over_torch", "PyTorch's fused step over ours, as a ratio of times",
     on_gpu<measure_gpu_step_over_torch>},
    {"gpu_captured_step", "the host's time of a step that is replayed, and of one that is not",
     on_gpu<measure_gpu_captured>},
};

}  // namespace

std::span<Suite const> suites() {
  return all_suites;
}

}  // namespace adamant::scenarios
