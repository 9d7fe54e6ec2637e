// Launch:  blocks over elements (x) times tasks (y); at most `tasks_max` tasks travel in the
//          argument struct. A thread takes 8 elements at once by 16-byte accesses where the arrays
//          lie so.
// Traffic: an element of either format; from fp32 to bf16 10^9 of them at 4.3 TB/s take 1.4 ms.
#include "real/shard/cast_kernel.h"

#include <algorithm>

#include "real/cuda/elementwise.h"
#include "real/cuda/launch.h"

namespace adamant::real {

namespace {

constexpr std::size_t tasks_max = 32;

struct CastArguments {
  CastTask tasks[tasks_max] = {};
};

template <typename From, typename To>
__device__ void cast(CastTask const& task) {
  auto const same = [](float x) { return x; };
  transform_in_grid(task.numel, static_cast<To*>(task.to.data), same,
                    static_cast<From const*>(task.from.data));
}

__global__ void cast_kernel(__grid_constant__ CastArguments const arguments) {
  CastTask const task = arguments.tasks[blockIdx.y];
  with_type_of(task.from.format, [&]<typename From>(From*) {
    with_type_of(task.to.format, [&]<typename To>(To*) { cast<From, To>(task); });
  });
}

std::int64_t longest(std::span<CastTask const> tasks) {
  std::int64_t numel = 0;
  for (CastTask const& task : tasks) numel = std::max(numel, task.numel);
  return numel;
}

}  // namespace

void launch_casts(std::span<CastTask const> tasks, Stream const& stream) {
  for (std::size_t first = 0; first < tasks.size(); first += tasks_max) {
    auto const batch = tasks.subspan(first, std::min(tasks_max, tasks.size() - first));
    std::int64_t const numel = longest(batch);
    if (numel == 0) continue;
    CastArguments arguments;
    std::copy(batch.begin(), batch.end(), arguments.tasks);
    launch(cast_kernel, dim3(blocks_for(numel), static_cast<unsigned>(batch.size())), stream,
           arguments);
  }
}

}  // namespace adamant::real
