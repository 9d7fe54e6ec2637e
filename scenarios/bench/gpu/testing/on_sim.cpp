#include "scenarios/bench/gpu/testing/on_sim.h"

#include "scenarios/bench/gpu/measures.h"

void adamant_bench_gpu_on_sim(adamant::scenarios::GpuSizes const* sizes,
                              std::vector<adamant::scenarios::Row>* rows) {
  namespace sc = adamant::scenarios;
  struct Suite {
    char const* name;
    void (*measure)(sc::GpuSizes const& sizes, sc::SuiteRows& rows);
  };
  for (auto const& [name, measure] : {Suite{"gpu_step_over_copy", sc::measure_gpu_step},
                                      {"gpu_passes_over_copy", sc::measure_gpu_passes},
                                      {"gpu_quantise_over_copy", sc::measure_gpu_quantise},
                                      {"gpu_captured_step", sc::measure_gpu_captured},
                                      {"gpu_step_over_torch", sc::measure_gpu_step_over_torch}}) {
    sc::SuiteRows of_suite(name);
    measure(*sizes, of_suite);
    rows->insert(rows->end(), of_suite.all().begin(), of_suite.all().end());
  }
}
