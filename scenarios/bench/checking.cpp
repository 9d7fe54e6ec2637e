// What race and access checking costs: the same scenario on the checked and the unchecked engine,
// by turns, the median of the ratios.
#include <algorithm>

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
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

Row row(std::string name, double value) {
  return {.suite = "checked_over_unchecked", .name = std::move(name), .value = value, .unit = "x"};
}

}  // namespace

std::vector<Row> measure_checking(BenchOptions const& options) {
  auto const small = make_scenario("[{name: w, shape: [100, 7]}, {name: b, shape: [300]}]", 4, 3);
  auto const large =
      make_scenario("[{name: w, shape: [1000, 700]}, {name: b, shape: [300, 1000]}]", 4, 3);
  std::vector<Row> rows{row("checked_over_unchecked", ratio_of(large, 5)),
                        row("1000_elements", ratio_of(small, 51))};
  if (options.full) {
    auto const gpt2 = make_scenario("{model: gpt2-124m}", 8, 1);
    rows.push_back(row("gpt2_124m", ratio_of(gpt2, 1)));
  }
  return rows;
}

}  // namespace adamant::scenarios
