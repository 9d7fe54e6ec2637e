// What race and access checking costs: the same scenario on the checked and the unchecked engine,
// by turns, the median of the ratios.
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

namespace {

Scenario make_scenario(std::string const& params, int shard, int steps) {
  std::string const text = "adamant: 1\nname: checking\nworld: {shard: " + std::to_string(shard) +
                           "}\nparams: " + params + "\nprogram: [{train: " + std::to_string(steps) +
                           "}]\nseed: 1\n";
  return load_scenario_text(text, "bench");
}

double seconds_on(Scenario const& scenario, char const* engine) {
  RunOptions options;
  options.engine = engine;
  return seconds_of([&] { run_and_pass(scenario, options); });
}

double ratio_of(Scenario const& scenario, int rounds) {
  std::vector<double> ratios;
  seconds_on(scenario, "sim-unchecked");  // warm-up
  for (int round = 0; round < rounds; ++round) {
    double const unchecked = seconds_on(scenario, "sim-unchecked");
    ratios.push_back(seconds_on(scenario, "sim") / unchecked);
  }
  return median(ratios);
}

}  // namespace

void measure_checking(BenchOptions const& options, SuiteRows& rows) {
  auto const small = make_scenario("[{name: w, shape: [100, 7]}, {name: b, shape: [300]}]", 4, 3);
  auto const large =
      make_scenario("[{name: w, shape: [1000, 700]}, {name: b, shape: [300, 1000]}]", 4, 3);
  rows.add_main(ratio_of(large, 5), "x");
  rows.add("1000_elements", ratio_of(small, 51), "x");
  if (!options.full) return;
  rows.add("gpt2_124m", ratio_of(make_scenario("{model: gpt2-124m}", 8, 1), 1), "x");
}

}  // namespace adamant::scenarios
