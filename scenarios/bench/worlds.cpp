// Seconds by the number of ranks, three steps, the unchecked engine. With 65,536 elements in all;
// and with 16 for each rank in every world. Where all ranks share the parameter, what each of them
// gathers grows with the world, and all of it with its square. Where at most eight share it and the
// others have replicas, a rank has the same to do in every world.
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

namespace {

constexpr int columns = 16;
constexpr int rounds_min = 7;
constexpr double seconds_min = 0.3;

struct WorldSize {
  int ranks = 1;
  int shards = 1;  // ranks that share a parameter; others have replicas
  int elements = 1;
};

Scenario scenario_of(WorldSize const& size) {
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
  return scenario;
}

/// What a run of a world costs; the fastest counts of its wall seconds. It is run once before: a
/// world of another size has left its memory in other places.
double nanoseconds_of(Scenario const& scenario, double& fastest_seconds) {
  run_and_pass(scenario);
  double seconds = 0;
  double const nanoseconds =
      processor_nanoseconds_of([&] { seconds = seconds_of([&] { run_and_pass(scenario); }); });
  fastest_seconds = std::min(fastest_seconds, seconds);
  return nanoseconds;
}

struct Doubling {
  double seconds = std::numeric_limits<double>::max();  // of the larger world
  double beyond = 0;  // it over two of the smaller one: the median of the rounds
};

// By turns, because a machine that others use is slower in one second than in the next, and as
// often each, because the fastest of many runs is faster than that of a few.
Doubling doubling_of(WorldSize const& half, WorldSize const& whole) {
  Scenario const smaller = scenario_of(half);
  Scenario const larger = scenario_of(whole);
  Doubling result;
  double of_smaller = result.seconds;
  std::vector<double> ratios;
  double const begin = processor_seconds();
  while (static_cast<int>(ratios.size()) < rounds_min ||
         processor_seconds() < begin + seconds_min) {
    double const once = nanoseconds_of(smaller, of_smaller);
    ratios.push_back(nanoseconds_of(larger, result.seconds) / once / 2);
  }
  result.beyond = median(ratios);
  return result;
}

/// What no run can do without where all ranks share the parameter: in each of three steps every
/// rank writes a gradient of it, which is added up and comes back as the parameter. No rank is
/// simulated.
double bare_seconds(int ranks) {
  auto const numel = static_cast<std::size_t>(ranks * columns);
  std::vector<std::vector<float>> gradients(static_cast<std::size_t>(ranks));
  std::vector<std::vector<float>> gathered(gradients.size(), std::vector<float>(numel));
  std::vector<float> sums(numel);
  double fastest = std::numeric_limits<double>::max();
  for (int round = 0; round < rounds_min; ++round) {
    double const nanoseconds = processor_nanoseconds_of([&] {
      for (int step = 0; step < 3; ++step) {
        for (auto& gradient : gradients) gradient.assign(numel, 0.0F);
        for (auto const& gradient : gradients)
          std::transform(sums.begin(), sums.end(), gradient.begin(), sums.begin(), std::plus<>());
        for (auto& parameter : gathered) std::copy(sums.begin(), sums.end(), parameter.begin());
      }
    });
    fastest = std::min(fastest, nanoseconds * 1e-9);
  }
  return fastest;
}

/// Rows of worlds of 1 to 1,024 ranks, and by how much the worst doubling is beyond one.
template <typename SizeOf>
void measure_doublings(SuiteRows& rows, std::string const& suffix, SizeOf const& size_of) {
  double most = 0;
  auto const add = [&](int ranks, double seconds) {
    rows.add(std::to_string(ranks) + "_ranks" + suffix, seconds, "s");
  };
  add(1, doubling_of(size_of(1), size_of(1)).seconds);
  for (int ranks = 2; ranks <= 1024; ranks *= 2) {
    Doubling const doubling = doubling_of(size_of(ranks / 2), size_of(ranks));
    add(ranks, doubling.seconds);
    most = std::max(most, doubling.beyond);
  }
  rows.add("most_beyond_doubling" + suffix, most, "x");
}

}  // namespace

void measure_worlds(BenchOptions const&, SuiteRows& rows) {
  measure_doublings(rows, "", [](int ranks) {
    return WorldSize{.ranks = ranks, .shards = ranks, .elements = 65'536};
  });
  measure_doublings(rows, "_16_elements_each", [](int ranks) {
    return WorldSize{.ranks = ranks, .shards = ranks, .elements = ranks * columns};
  });
  for (int ranks = 256; ranks <= 1024; ranks *= 2)
    rows.add(std::to_string(ranks) + "_ranks_16_elements_each_bare_loop", bare_seconds(ranks), "s");
  measure_doublings(rows, "_16_elements_each_8_shards", [](int ranks) {
    int const shards = std::min(ranks, 8);
    return WorldSize{.ranks = ranks, .shards = shards, .elements = shards * columns};
  });
}

}  // namespace adamant::scenarios
