// The loop of the CPU's step for other languages: one function of plain C that steps a list of fp32
// tensors. For comparing speed; nothing of ours calls it.
#include <memory>
#include <vector>

#include "real/offload/cpu_adam.h"
#include "real/offload/runs.h"
#include "real/offload/thread_crew.h"

/// One step of AdamW with lr 1e-3, betas 0.9 and 0.999, eps 1e-8, decay 0.01. Units: `step` from 1.
extern "C" void adamant_cpu_step(int count, float** weights, float** gradients, float** exp_avg,
                                 float** exp_avg_sq, std::int64_t const* numels, std::int64_t step,
                                 int threads) {
  using namespace adamant::real;
  static std::unique_ptr<ThreadCrew> crew;
  if (!crew || crew->count() != threads) crew = std::make_unique<ThreadCrew>(threads);
  std::vector<std::int64_t> ends;
  for (int i = 0; i < count; ++i) ends.push_back((ends.empty() ? 0 : ends.back()) + numels[i]);
  StepScalars const scalars = step_scalars({}, step, true);
  crew->parallel_for(threads, [&](int chunk) {
    for_each_run(ends, chunk_of(ends.back(), chunk, threads),
                 [&](std::size_t i, std::int64_t first, std::int64_t numel) {
                   CpuAdamArrays const whole{weights[i], gradients[i], exp_avg[i], exp_avg_sq[i]};
                   cpu_adam(scalars, whole.from(first), numel);
                 });
  });
}
