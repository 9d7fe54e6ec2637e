// Launch:  blocks over elements (x) times tasks (y); at most `tasks_max` tasks travel in the
//          argument struct.
// Traffic: 8 bytes an element, 12 where it adds; 10^9 elements at 4.3 TB/s take 1.9 ms.
#include <algorithm>

#include "real/bug.h"
#include "real/comm/mean_kernel.h"
#include "real/cuda/launch.h"

namespace adamant::real {

namespace {

constexpr std::size_t tasks_max = 32;

struct MeanArguments {
  MeanTask tasks[tasks_max] = {};
  float divisor = 1;
};

__global__ void mean_kernel(__grid_constant__ MeanArguments const arguments) {
  MeanTask const task = arguments.tasks[blockIdx.y];
  float const divisor = arguments.divisor;
  if (ADAMANT_BUG(mean_by_reciprocal) && !task.accumulate) {
    float const factor = 1.0F / divisor;
    for_each_in_grid(task.numel, [&](std::int64_t i) { task.gradient[i] = task.sum[i] * factor; });
  } else if (ADAMANT_BUG(accumulated_mean_divided_again) && task.accumulate) {
    for_each_in_grid(task.numel, [&](std::int64_t i) {
      task.gradient[i] = (task.gradient[i] + task.sum[i]) / divisor;
    });
  } else if (task.accumulate) {
    for_each_in_grid(task.numel, [&](std::int64_t i) {
      task.gradient[i] = task.gradient[i] + task.sum[i] / divisor;
    });
  } else {
    for_each_in_grid(task.numel, [&](std::int64_t i) { task.gradient[i] = task.sum[i] / divisor; });
  }
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
