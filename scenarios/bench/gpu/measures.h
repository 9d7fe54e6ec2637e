// What is measured of the engine's kernels on a device, beside a copy from device to device of the
// same run. It is compiled by nvcc for GPUs, and against the simulator, where the times mean
// nothing and all else is tried.
//
// Rows: `name` is the part of the copy's rate that a kernel reaches with the bytes that it has
// to move, the median over the rounds of what each round gave; `name_least` and `name_most` are
// those of single rounds, `name_time` is the median time. In the place of all of them stands one
// row in `wrong_bits_unit` where the results are not those of the readable twin: a number for a
// wrong result would be worth nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/bench/rows.h"

namespace adamant::scenarios {

/// Units: elements, unless said.
struct GpuSizes {
  std::int64_t flat = 1LL << 27;
  std::vector<std::int64_t> gpt2;  // of its tensors, one by one
  int many_tensors = 10'000;
  std::int64_t of_many = 10'000;                // each of the many
  std::int64_t checked = 1'000'003;             // of what is compared with a loop of the host
  std::size_t copy_bytes = 1U << 30;            // read, and written as many
  std::vector<int> captured = {1'000, 10'000};  // tensors
  int rounds = 15;
  int captured_rounds = 100;
};

void measure_gpu_step(GpuSizes const& sizes, SuiteRows& rows);      // step_over_copy.cpp
void measure_gpu_passes(GpuSizes const& sizes, SuiteRows& rows);    // passes_over_copy.cpp
void measure_gpu_quantise(GpuSizes const& sizes, SuiteRows& rows);  // quantise_over_copy.cpp
void measure_gpu_captured(GpuSizes const& sizes, SuiteRows& rows);  // captured_step.cpp

/// Errors: MachineLacks without a PyTorch for GPUs in ADAMANT_PYTHON or python3; std::runtime_error
///         where it fails.
void measure_gpu_step_over_torch(GpuSizes const& sizes, SuiteRows& rows);

}  // namespace adamant::scenarios
