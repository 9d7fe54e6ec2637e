// Three steps of GPT-2 124M on 8 simulated devices, compared with the oracle bit for bit: time and
// memory of the whole.
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

void measure_gpt2(BenchOptions const&, SuiteRows& rows) {
  Scenario const scenario = load_scenario_text(R"(adamant: 1
name: GPT-2 124M
world: {shard: 8}
params: {model: gpt2-124m}
program: [{train: 3}]
engine: {name: sim-unchecked}
seed: 1
)",
                                               "bench");
  rows.add_main(seconds_of([&] { run_and_pass(scenario); }), "s");
  rows.add("gpt2_124m_8_ranks_processor_seconds", processor_seconds(), "s");
  double const gibibytes = peak_resident_bytes() / (1024.0 * 1024.0 * 1024.0);
  rows.add("gpt2_124m_8_ranks_peak_resident", gibibytes, "GiB");
}

}  // namespace adamant::scenarios
