// How many blocks and threads an elementwise kernel gets, and how they share its elements: a
// grid-stride loop on a GPU, one contiguous chunk a block where a block is one CPU thread. Both
// visit every element once; a GPU's order on a CPU would miss the cache at every step.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace adamant::real {

#ifdef __CUDACC__
inline constexpr int threads_per_block = 256;
inline constexpr std::int64_t elements_per_block = 4 * threads_per_block;
inline constexpr std::int64_t blocks_max = 8 * 132;  // what an H100 or H200 holds at once
#else
inline constexpr int threads_per_block = 1;
inline constexpr std::int64_t elements_per_block = 65'536;
inline constexpr std::int64_t blocks_max = 1'024;
#endif

/// Blocks for `numel` elements, at least one.
inline unsigned blocks_for(std::int64_t numel) {
  std::int64_t const wanted = (numel + elements_per_block - 1) / elements_per_block;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, blocks_max));
}

/// What of [0, numel) is one thread's of the grid's x dimension: first, first + stride, ... < end.
struct GridShare {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t stride = 1;
};

__device__ inline GridShare share_in_grid(std::int64_t numel) {
#ifdef __CUDACC__
  return {.first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
          .end = numel,
          .stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x};
#else
  std::int64_t const chunk = (numel + gridDim.x - 1) / gridDim.x;
  std::int64_t const begin = static_cast<std::int64_t>(blockIdx.x) * chunk;
  return {.first = begin, .end = std::min(numel, begin + chunk), .stride = 1};
#endif
}

/// Calls `visit(i)` for every i in [0, numel), each once over all threads of the grid's x
/// dimension.
template <typename Visit>
__device__ inline void for_each_in_grid(std::int64_t numel, Visit visit) {
  GridShare const share = share_in_grid(numel);
  for (std::int64_t i = share.first; i < share.end; i += share.stride) visit(i);
}

}  // namespace adamant::real
