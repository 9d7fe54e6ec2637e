// Launch:  blocks over runs of elements (x) times tasks (y); at most `tasks_max` tasks travel in
//          one argument. A thread takes a run at a time, which lies in one block of the recipe: 16
//          elements, or the 32 of a block of mxfp8, by 16-byte accesses.
// Traffic: bytes an element of weights (4), codes (1, of nvfp4 1/2) and scales:
//            fp8_delayed, mxfp8     one read of the weights:  4 + 1     + scales
//            fp8_current, _block    two:                      4 + 4 + 1 + scales
//            nvfp4                  two:                      4 + 4 + 1/2 + scales
//          At 4.3 TB/s 10^9 elements take 1.2, 2.1 and 2.0 ms.
#include "real/quantise/quantise_kernels.h"

#include <algorithm>
#include <type_traits>

#include "real/cuda/lanes.h"
#include "real/cuda/launch.h"
#include "real/quantise/block_walk.h"

namespace adamant::real {

/// As elements of parameters are kept, which saturate.
struct E4m3Code {
  std::uint8_t bits;
};
template <>
__host__ __device__ __forceinline__ E4m3Code stored<E4m3Code>(float x) {
  return {e4m3_code(x)};
}

namespace {

constexpr std::size_t tasks_max = 32;

struct QuantiseArguments {
  QuantiseTask tasks[tasks_max] = {};
};
static_assert(std::has_unique_object_representations_v<QuantiseTask>);  // no padding

__device__ __forceinline__ bool is_skipped(QuantiseTask const& task) {
  return task.apply != nullptr && *task.apply == 0;
}

// ---- runs of elements ---------------------------------------------------------------------------

constexpr int mxfp8_run_numel = 32;

/// Consecutive elements of this rank's part; only at its ends fewer than there is room for.
template <int numel>
struct Run {
  std::int64_t first = 0;  // in the part
  int count = 0;
  float at[numel] = {};  // those beyond are 0
};

// Runs begin at multiples of `numel` of the whole tensor, so that each lies in one block, also
// where the part begins in the middle of one.

template <int numel>
__device__ std::int64_t run_count(QuantiseTask const& task) {
  return (task.begin % numel + task.count + numel - 1) / numel;
}

template <int numel>
__device__ Run<numel> run_at(QuantiseTask const& task, std::int64_t r) {
  std::int64_t const before = task.begin % numel;  // of the first run
  std::int64_t const end = (r + 1) * numel - before;
  Run<numel> run;
  run.first = r == 0 ? 0 : r * numel - before;
  run.count = static_cast<int>((end < task.count ? end : task.count) - run.first);
  for (int k = 0; k < numel; k += lanes)
    load_as(task.weights + run.first + k, run.count - k, run.at + k);
  return run;
}

template <int numel, typename Visit>
__device__ void for_each_run(QuantiseTask const& task, Visit visit) {
  for_each_in_grid(run_count<numel>(task), [&](std::int64_t r) { visit(run_at<numel>(task, r)); });
}

/// Calls `visit(run, block)`.
template <typename Visit>
__device__ void for_each_run_in_blocks(QuantiseTask const& task, Visit visit) {
  GridShare const share = share_in_grid(run_count<run_numel>(task));
  BlockWalk walk(task.shape, task.begin / run_numel + share.first, share.stride);
  for (std::int64_t r = share.first; r < share.end; r += share.stride) {
    visit(run_at<run_numel>(task, r), walk.block());
    walk.step();
  }
}

template <int numel>
__device__ float amax_of(Run<numel> const& run) {
  float amax = 0;
  for (int k = 0; k < numel; ++k) {
    float const magnitude = fabsf(run.at[k]);
    amax = magnitude > amax ? magnitude : amax;  // not of NaN
  }
  return amax;
}

/// Two codes a byte, whole runs in one access where they lie so.
__device__ void store_e2m1(float const (&scaled)[run_numel], int count, std::uint8_t* to) {
  Packed<std::uint8_t> pairs;
  for (int k = 0; k < run_numel / 2; ++k)
    pairs.at[k] =
        static_cast<std::uint8_t>(e2m1_code(scaled[2 * k]) | e2m1_code(scaled[2 * k + 1]) << 4);
  if (count == run_numel && is_packed(to)) return store_packed(pairs, to);
  for (int k = 0; k < run_numel / 2; ++k)
    if (2 * k < count) to[k] = pairs.at[k];
}

template <int numel>
__device__ void encode(QuantiseTask const& task, Run<numel> const& run, float into) {
  float scaled[numel];
  for (int k = 0; k < numel; ++k) scaled[k] = run.at[k] * into;
  if constexpr (numel == run_numel)
    if (task.shape.recipe == Recipe::nvfp4)
      return store_e2m1(scaled, run.count, task.codes + run.first / 2);
  auto* const codes = reinterpret_cast<E4m3Code*>(task.codes) + run.first;
  for (int k = 0; k < numel; k += lanes) store_as(scaled + k, run.count - k, codes + k);
}

// ---- maxima -------------------------------------------------------------------------------------

__device__ inline void raise(std::int32_t* maximum, float amax) {
  if (amax > 0) atomicMax(maximum, __builtin_bit_cast(std::int32_t, amax));
}

__device__ inline float maximum_at(std::int32_t const* maxima, std::int64_t i) {
  return __builtin_bit_cast(float, maxima[i]);
}

__device__ inline float larger(float a, float b) {
  return a > b ? a : b;
}

__device__ float read_current(QuantiseTask const& task) {
  float amax = 0;
  for_each_run<run_numel>(task, [&](auto const& run) { amax = larger(amax, amax_of(run)); });
  return amax;
}

__device__ float read_delayed(QuantiseTask const& task) {
  float const into = task.delayed->next;
  float amax = 0;
  for_each_run<run_numel>(task, [&](auto const& run) {
    amax = larger(amax, amax_of(run));
    encode(task, run, into);
  });
  return amax;
}

__device__ float read_blocks(QuantiseTask const& task) {
  float tensor_amax = 0;
  for_each_run_in_blocks(task, [&](auto const& run, std::int64_t block) {
    float const amax = amax_of(run);
    raise(task.partial + block, amax);
    tensor_amax = larger(tensor_amax, amax);
  });
  return tensor_amax;
}

__device__ void read_mxfp8(QuantiseTask const& task) {
  for_each_run<mxfp8_run_numel>(task, [&](auto const& run) {
    BlockScale const scale = mxfp8_scale(amax_of(run));
    task.scale_codes[run.first / mxfp8_run_numel] = scale.code;
    encode(task, run, scale.into);
  });
}

/// The same for all threads of the grid's block.
__device__ void raise_together(std::int32_t* maximum, float amax, std::int32_t* shared) {
  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  raise(shared, amax);
  __syncthreads();
  if (threadIdx.x == 0) raise(maximum, __builtin_bit_cast(float, *shared));
}

__global__ void first_read_kernel(__grid_constant__ QuantiseArguments const a) {
  __shared__ std::int32_t largest;
  QuantiseTask const task = a.tasks[blockIdx.y];
  if (is_skipped(task)) return;
  switch (task.shape.recipe) {
    case Recipe::fp8_delayed:
      return raise_together(task.partial, read_delayed(task), &largest);
    case Recipe::fp8_current:
      return raise_together(task.partial, read_current(task), &largest);
    case Recipe::fp8_block:
      read_blocks(task);
      return;
    case Recipe::mxfp8:
      if (has_scales_beside(task.shape)) return read_mxfp8(task);
      read_blocks(task);
      return;
    case Recipe::nvfp4:
      return raise_together(task.partial + block_count(task.shape), read_blocks(task), &largest);
  }
}

// ---- from joined maxima -------------------------------------------------------------------------

__device__ BlockScale joined_scale(QuantiseTask const& task, std::int64_t block) {
  // The last maximum is nvfp4's of the tensor; the other recipes do not look at it.
  float const amax = maximum_at(task.joined, block);
  float const last = maximum_at(task.joined, maxima_count(task.shape) - 1);
  return block_scale(task.shape.recipe, amax, last);
}

__device__ void keep_delayed(QuantiseTask const& task) {
  *task.scales = fp32_scale(task.delayed->next).back;
  move_on(*task.delayed, maximum_at(task.joined, 0));
}

__device__ void keep_scale(QuantiseTask const& task, std::int64_t block) {
  Recipe const recipe = task.shape.recipe;
  if (recipe == Recipe::fp8_delayed) return keep_delayed(task);
  BlockScale const scale = joined_scale(task, block);
  if (scale_code_count(task.shape) == 0) {
    task.scales[block] = scale.back;
    return;
  }
  task.scale_codes[block] = scale.code;
  if (recipe == Recipe::nvfp4 && block == 0)
    *task.scales = maximum_at(task.joined, block_count(task.shape));
}

__global__ void scales_kernel(__grid_constant__ QuantiseArguments const a) {
  QuantiseTask const task = a.tasks[blockIdx.y];
  if (is_skipped(task)) return;
  for_each_in_grid(block_count(task.shape), [&](std::int64_t block) { keep_scale(task, block); });
}

__global__ void second_read_kernel(__grid_constant__ QuantiseArguments const a) {
  QuantiseTask const task = a.tasks[blockIdx.y];
  if (is_skipped(task)) return;
  if (!has_blocks(task.shape.recipe)) {
    float const into = joined_scale(task, 0).into;
    for_each_run<run_numel>(task, [&](auto const& run) { encode(task, run, into); });
    return;
  }
  for_each_run_in_blocks(task, [&](auto const& run, std::int64_t block) {
    encode(task, run, joined_scale(task, block).into);
  });
}

// ---- launches -----------------------------------------------------------------------------------

/// Launches `kernel` over those tasks for which `numel_of` says more than 0 elements or blocks.
template <typename NumelOf>
void launch_over(void (*kernel)(QuantiseArguments), std::span<QuantiseTask const> tasks,
                 NumelOf numel_of, Stream const& stream) {
  QuantiseArguments arguments;
  std::size_t count = 0;
  std::int64_t longest = 0;
  auto const flush = [&] {
    if (count > 0)
      launch(kernel, dim3(blocks_for(longest), static_cast<unsigned>(count)), stream, arguments);
    arguments = QuantiseArguments();
    count = 0;
    longest = 0;
  };
  for (QuantiseTask const& task : tasks) {
    std::int64_t const numel = numel_of(task);
    if (numel == 0) continue;
    arguments.tasks[count++] = task;
    longest = std::max(longest, numel);
    if (count == tasks_max) flush();
  }
  flush();
}

/// What a grid is chosen for: threads take elements by runs, not by fours as blocks_for() expects.
std::int64_t fours_of_runs(QuantiseTask const& task) {
  return (task.count + 3) / 4;
}

}  // namespace

void launch_first_read(std::span<QuantiseTask const> tasks, Stream const& stream) {
  launch_over(first_read_kernel, tasks, fours_of_runs, stream);
}

void launch_scales(std::span<QuantiseTask const> tasks, Stream const& stream) {
  launch_over(
      scales_kernel, tasks,
      [](QuantiseTask const& task) {
        return joins_maxima(task.shape) ? block_count(task.shape) : 0;
      },
      stream);
}

void launch_second_read(std::span<QuantiseTask const> tasks, Stream const& stream) {
  launch_over(
      second_read_kernel, tasks,
      [](QuantiseTask const& task) { return is_read_twice(task.shape) ? fours_of_runs(task) : 0; },
      stream);
}

}  // namespace adamant::real
