// The suites for GPUs on a simulated one: small, and their times mean nothing.
#pragma once

#include <vector>

#include "scenarios/bench/gpu/measures.h"

extern "C" {
/// Adds the rows of all suites. Called by the one rank of a simulated world.
void adamant_bench_gpu_on_sim(adamant::scenarios::GpuSizes const* sizes,
                              std::vector<adamant::scenarios::Row>* rows);
}
