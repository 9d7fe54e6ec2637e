// Seconds by the number of ranks: 65,536 elements in all, three steps, the unchecked engine.
#include <algorithm>

#include "scenarios/language/yaml/load.h"
#include "scenarios/program/bench/measure.h"
#include "scenarios/program/bench/suite.h"

namespace adamant::scenarios {

namespace {

constexpr int rounds_min = 3;
constexpr double seconds_min = 0.1;

double seconds_with(int ranks) {
  Scenario scenario = load_scenario_text(R"(adamant: 1
name: many ranks
world: {shard: 1}
params: [{name: w, shape: [4096, 16]}]
microbatches: 1
program: [{train: 3}]
engine: {name: sim-unchecked}
seed: 1
)",
                                         "bench");
  scenario.world.shard = ranks;
  // The first round touches memory that the others find again. Of small worlds more rounds are
  // due: they are over in milliseconds, and the fastest is the cost, the rest is noise.
  double fastest = seconds_of([&] { run_and_pass(scenario); });
  double total = fastest;
  for (int round = 1; round < rounds_min || total < seconds_min; ++round) {
    double const seconds = seconds_of([&] { run_and_pass(scenario); });
    fastest = std::min(fastest, seconds);
    total += seconds;
  }
  return fastest;
}

}  // namespace

std::vector<Row> measure_worlds(BenchOptions const&) {
  std::vector<Row> rows;
  for (int ranks = 1; ranks <= 1024; ranks *= 2) {
    rows.push_back({.suite = "world_sizes",
                    .name = std::to_string(ranks) + "_ranks",
                    .value = seconds_with(ranks),
                    .unit = "s"});
  }
  return rows;
}

}  // namespace adamant::scenarios
