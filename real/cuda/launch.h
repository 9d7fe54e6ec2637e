// Launches kernels by the one form that every compiler parses. A kernel of the engine takes one
// struct of arguments by value, which the launch copies.
#pragma once

#include <cuda_runtime.h>

#include "real/cuda/error.h"
#include "real/cuda/grid.h"
#include "real/cuda/handles.h"

namespace adamant::real {

/// Enqueues `kernel(arguments)` with `grid` blocks of `threads_per_block` threads.
///
/// Shapes: `Arguments` has no padding. Nobody writes it, yet it would go along, and whoever looks
///         through a graph for settings that it holds would find there what once lay on the stack.
/// Stream: ordered on `stream`; returns before the kernel has run.
/// Errors: CudaError.
template <typename Arguments>
void launch(void (*kernel)(Arguments), dim3 grid, Stream const& stream,
            Arguments const& arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads_per_block);
  config.stream = stream.get();
  ADAMANT_TRY(cudaLaunchKernelEx(&config, kernel, arguments));
}

}  // namespace adamant::real
