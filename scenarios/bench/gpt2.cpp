// Three steps of GPT-2 124M on 8 simulated devices, compared with the oracle bit for bit: time and
// memory of the whole.
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

std::vector<Row> measure_gpt2(BenchOptions const&) {
  Scenario const scenario = load_scenario_text(R"(adamant: 1
name: GPT-2 124M
world: {shard: 8}
params: {model: gpt2-124m}
program: [{train: 3}]
engine: {name: sim-unchecked}
seed: 1
)",
                                               "bench");
  std::string const suite = "gpt2_124m_8_ranks_wall_seconds";
  double const seconds = seconds_of([&] { run_and_pass(scenario); });
  double const processor = processor_seconds();
  double const gibibytes = peak_resident_bytes() / (1024.0 * 1024.0 * 1024.0);
  return {{.suite = suite, .name = suite, .value = seconds, .unit = "s"},
          {.suite = suite,
           .name = "gpt2_124m_8_ranks_processor_seconds",
           .value = processor,
           .unit = "s"},
          {.suite = suite,
           .name = "gpt2_124m_8_ranks_peak_resident",
           .value = gibibytes,
           .unit = "GiB"}};
}

}  // namespace adamant::scenarios
