// Seconds by the number of ranks, three steps, the unchecked engine. With 65,536 elements in all;
// and with 16 for each rank in every world. Where all ranks share the parameter, what each of them
// gathers grows with the world, and all of it with its square. Where at most eight share it and the
// others have replicas, a rank has the same to do in every world.
#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/language/yaml/load.h"
#include "scenarios/program/bench/measure.h"
#include "scenarios/program/bench/suite.h"

namespace adamant::scenarios {

namespace {

constexpr char suite[] = "world_sizes";
constexpr int columns = 16;
constexpr int rounds_min = 3;
constexpr double seconds_min = 0.1;

struct WorldSize {
  int ranks = 1;
  int shards = 1;  // ranks that share a parameter; others have replicas
  int elements = 1;
};

double seconds_with(WorldSize const& size) {
  Scenario scenario = load_scenario_text(R"(adamant: 1
name: many ranks
world: {shard: 1}
params: [{name: w, shape: [1]}]
microbatches: 1
program: [{train: 3}]
engine: {name: sim-unchecked}
seed: 1
)",
                                         "bench");
  scenario.world.shard = size.shards;
  scenario.world.replicate = size.ranks / size.shards;
  scenario.params.front().shape = {size.elements / columns, columns};
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

/// Rows of worlds of 1 to 1,024 ranks, and by how much the worst doubling is beyond one.
template <typename SizeOf>
void measure_doublings(std::vector<Row>& rows, std::string const& suffix, SizeOf const& size_of) {
  double before = 0;
  double most = 0;
  for (int ranks = 1; ranks <= 1024; ranks *= 2) {
    double const seconds = seconds_with(size_of(ranks));
    rows.push_back({suite, std::to_string(ranks) + "_ranks" + suffix, seconds, "s"});
    if (before > 0) most = std::max(most, seconds / before / 2);
    before = seconds;
  }
  rows.push_back({suite, "most_beyond_doubling" + suffix, most, "x"});
}

}  // namespace

std::vector<Row> measure_worlds(BenchOptions const&) {
  std::vector<Row> rows;
  measure_doublings(rows, "", [](int ranks) {
    return WorldSize{.ranks = ranks, .shards = ranks, .elements = 65'536};
  });
  measure_doublings(rows, "_16_elements_each", [](int ranks) {
    return WorldSize{.ranks = ranks, .shards = ranks, .elements = ranks * 16};
  });
  measure_doublings(rows, "_16_elements_each_8_shards", [](int ranks) {
    int const shards = std::min(ranks, 8);
    return WorldSize{.ranks = ranks, .shards = shards, .elements = shards * 16};
  });
  return rows;
}

}  // namespace adamant::scenarios
