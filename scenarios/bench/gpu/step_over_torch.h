// The suite that needs PyTorch, in another process.
#pragma once

#include <vector>

#include "scenarios/bench/gpu/measures.h"

namespace adamant::scenarios {

/// Errors: MachineLacks without a PyTorch for GPUs in ADAMANT_PYTHON or python3; std::runtime_error
///         where it fails.
std::vector<Row> measure_gpu_step_over_torch(GpuSizes const& sizes);

}  // namespace adamant::scenarios
