// What a replay costs the host beside the launch: the books of which parameters have a gradient and
// of how many steps each has had, line by line as ShardedAdam::replay keeps them.
//
//   parameters, steps of the iteration   at e1fb9c28      now
//    1,000, 1                               1.36 us     10 ns
//   10,000, 1                               13.0 us     35 ns
//   10,000, 4                                200 us     80 ns
//
// Medians of 31 rounds that alternate in one process, one core of an AMD EPYC with AVX-512,
// 2026-11-27. At e1fb9c28 sets were copied and compared bit by bit, and every parameter was counted
// in every step.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "real/shard/parameter_set.h"
#include "real/step/step_table.h"

namespace adamant::real {
namespace {

/// Of an iteration with so many steps, of which every second one leaves a parameter out.
struct Recorded {
  ParameterSet before;
  std::vector<ParameterSet> steps;
  ParameterSet after;
};

Recorded recorded(std::size_t parameters, int steps) {
  ParameterSet const none(parameters);
  Recorded result{.before = none, .steps = {}, .after = none};
  for (int step = 0; step < steps; ++step) {
    ParameterSet set(parameters);
    for (int p = step % 2; p < static_cast<int>(parameters); ++p) set.add(p);
    result.steps.push_back(set);
  }
  return result;
}

std::vector<ParameterSpec> specs(std::size_t count) {
  std::vector<ParameterSpec> all;
  for (std::size_t p = 0; p < count; ++p)
    all.push_back({.name = std::to_string(p), .shape = {1}, .group = static_cast<int>(p % 2)});
  return all;
}

void books_of_a_replay(benchmark::State& state) {
  auto const parameters = static_cast<std::size_t>(state.range(0));
  Recorded const iteration = recorded(parameters, static_cast<int>(state.range(1)));
  StepCounters counters(specs(parameters), 2, StepCounter::parameter);
  ParameterSet have_gradients = iteration.before;
  for (auto _ : state) {
    if (have_gradients != iteration.before) state.SkipWithError("captures anew");
    for (ParameterSet const& stepped : iteration.steps) counters.advance(stepped);
    have_gradients = iteration.after;
    benchmark::DoNotOptimize(have_gradients);
    benchmark::ClobberMemory();
  }
  std::int64_t const counted = counters.of(static_cast<int>(parameters) - 1);
  if (counted != state.iterations() * state.range(1)) state.SkipWithError("counts wrongly");
}

BENCHMARK(books_of_a_replay)->Args({1'000, 1})->Args({10'000, 1})->Args({10'000, 4});

}  // namespace
}  // namespace adamant::real
