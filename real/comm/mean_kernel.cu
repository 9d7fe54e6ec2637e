// Launch:  blocks over elements (x) times tasks (y); at most `tasks_max` tasks travel in the
//          argument struct.
// Traffic: twice the bytes of an element, three times where it adds; 10^9 elements of fp32 at
//          4.3 TB/s take 1.9 ms.
#include <algorithm>

#include "real/bug.h"
#include "real/comm/mean_kernel.h"
#include "real/cuda/launch.h"
#include "real/cuda/numbers.h"

namespace adamant::real {

namespace {

constexpr std::size_t tasks_max = 32;

struct MeanArguments {
  MeanTask tasks[tasks_max] = {};
  float divisor = 1;
  std::uint32_t unused = 0;  // no padding: see launch()
};
static_assert(sizeof(MeanArguments) == tasks_max * sizeof(MeanTask) + 8);

template <typename T>
struct Mean {
  T* gradient;
  T const* sum;
  float divisor;

  __device__ float older(std::int64_t i) const { return widened(gradient[i]); }
  __device__ float sum_at(std::int64_t i) const { return widened(sum[i]); }
  /// The mean as the gradient's format holds it.
  __device__ float at(std::int64_t i) const { return widened(stored<T>(sum_at(i) / divisor)); }
  __device__ void keep(std::int64_t i, float value) const { gradient[i] = stored<T>(value); }
};

template <typename T>
__device__ void run(MeanTask const& task, float divisor) {
  Mean<T> const mean = {static_cast<T*>(task.gradient), static_cast<T const*>(task.sum), divisor};
  if (ADAMANT_BUG(mean_by_reciprocal) && !task.accumulate) {
    float const factor = 1.0F / divisor;
    for_each_in_grid(task.numel, [&](std::int64_t i) { mean.keep(i, mean.sum_at(i) * factor); });
  } else if (ADAMANT_BUG(mlm_3023) && task.accumulate) {
    for_each_in_grid(task.numel, [&](std::int64_t i) {
      mean.keep(i, (mean.older(i) + mean.sum_at(i)) / divisor);
    });
  } else if (task.accumulate) {
    for_each_in_grid(task.numel, [&](std::int64_t i) { mean.keep(i, mean.older(i) + mean.at(i)); });
  } else {
    for_each_in_grid(task.numel, [&](std::int64_t i) { mean.keep(i, mean.at(i)); });
  }
}

__global__ void mean_kernel(__grid_constant__ MeanArguments const arguments) {
  MeanTask const task = arguments.tasks[blockIdx.y];
  with_type_of(task.format, [&]<typename T>(T*) { run<T>(task, arguments.divisor); });
}

std::int64_t longest(std::span<MeanTask const> tasks) {
  std::int64_t numel = 0;
  for (MeanTask const& task : tasks) numel = std::max(numel, task.numel);
  return numel;
}

}  // namespace

void launch_mean(std::span<MeanTask const> tasks, float divisor, Stream const& stream) {
  for (std::size_t first = 0; first < tasks.size(); first += tasks_max) {
    auto const batch = tasks.subspan(first, std::min(tasks_max, tasks.size() - first));
    std::int64_t const numel = longest(batch);
    if (numel == 0) continue;
    MeanArguments arguments = {.tasks = {}, .divisor = divisor};
    std::copy(batch.begin(), batch.end(), arguments.tasks);
    launch(mean_kernel, dim3(blocks_for(numel), static_cast<unsigned>(batch.size())), stream,
           arguments);
  }
}

}  // namespace adamant::real
