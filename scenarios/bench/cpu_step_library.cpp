// The loop of the CPU's step for other languages: one function of plain C that steps a list of
// tensors. For comparing speed; nothing of ours calls it.
#include <memory>
#include <vector>

#include "real/offload/cpu_adam.h"
#include "real/offload/runs.h"
#include "real/offload/thread_crew.h"

/// One step of AdamW with lr 1e-3, betas 0.9 and 0.999, eps 1e-8, decay 0.01. Units: `step` from 1.
/// All numbers are fp32, or all are bf16.
extern "C" void adamant_cpu_step(int count, void** weights, void** gradients, void** exp_avg,
                                 void** exp_avg_sq, std::int64_t const* numels, int is_bf16,
                                 std::int64_t step, int threads) {
  using namespace adamant::real;
  static std::unique_ptr<ThreadCrew> crew;
  if (!crew || crew->count() != threads) crew = std::make_unique<ThreadCrew>(threads);
  std::vector<std::int64_t> ends;
  for (int i = 0; i < count; ++i) ends.push_back((ends.empty() ? 0 : ends.back()) + numels[i]);
  StepScalars const scalars = step_scalars({}, step, true);
  auto const format = is_bf16 != 0 ? adamant::NumberFormat::bf16 : adamant::NumberFormat::fp32;
  crew->parallel_for(threads, [&](int chunk) {
    for_each_run(ends, chunk_of(ends.back(), chunk, threads),
                 [&](std::size_t i, std::int64_t first, std::int64_t numel) {
                   auto const from = [&](void** arrays) {
                     std::size_t const at = static_cast<std::size_t>(first) * bytes_of(format);
                     return Numbers{static_cast<std::byte*>(arrays[i]) + at, format};
                   };
                   cpu_adam(scalars,
                            CpuAdamNumbers{.weights = from(weights),
                                           .gradients = from(gradients),
                                           .exp_avg = from(exp_avg),
                                           .exp_avg_sq = from(exp_avg_sq),
                                           .parameter = {}},
                            numel);
                 });
  });
}
