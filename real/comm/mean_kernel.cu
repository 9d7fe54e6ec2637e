// Launch:  blocks over elements (x) times tasks (y); at most `tasks_max` tasks travel in the
//          argument struct. A thread takes 8 elements at once by 16-byte accesses where both
//          arrays lie so.
// Traffic: twice the bytes of an element, three times where it adds; 10^9 elements of fp32 at
//          4.3 TB/s take 1.9 ms.
#include "real/comm/mean_kernel.h"

#include <algorithm>

#include "real/cuda/elementwise.h"
#include "real/cuda/launch.h"

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
__device__ void mean_elements(MeanTask const& task, float divisor) {
  auto* const gradient = static_cast<T*>(task.gradient);
  auto const* const sums = static_cast<T const*>(task.sum);
  auto const mean = [&](float sum) { return sum / divisor; };
  auto const more = [&](float before, float sum) { return before + widened(stored<T>(mean(sum))); };
  if (task.accumulate)
    transform_in_grid(task.numel, gradient, more, gradient, sums);
  else
    transform_in_grid(task.numel, gradient, mean, sums);
}

__global__ void mean_kernel(__grid_constant__ MeanArguments const arguments) {
  MeanTask const task = arguments.tasks[blockIdx.y];
  with_type_of(task.format, [&]<typename T>(T*) { mean_elements<T>(task, arguments.divisor); });
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
