#include "scenarios/bench/gpu/testing/on_sim.h"

#include "scenarios/bench/gpu/measures.h"

void adamant_bench_gpu_on_sim(adamant::scenarios::GpuSizes const* sizes,
                              std::vector<adamant::scenarios::Row>* rows) {
  namespace sc = adamant::scenarios;
  for (auto* const measure :
       {sc::measure_gpu_step, sc::measure_gpu_passes, sc::measure_gpu_quantise,
        sc::measure_gpu_captured, sc::measure_gpu_step_over_torch}) {
    std::vector<sc::Row> const more = measure(*sizes);
    rows->insert(rows->end(), more.begin(), more.end());
  }
}
