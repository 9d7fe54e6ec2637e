// Schedules per second: a fresh world each, all checks on, every schedule another random one.
#include "scenarios/bench/asynchronous_calls.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/language/yaml/load.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

constexpr double seconds_per_row = 1.5;
constexpr int ranks = 4;

void run_schedule(int rounds, std::uint64_t seed) {
  ncclUniqueId id{};
  auto const main = [&](int rank) {
    sim::meet([&] { adamant_bench_make_id(&id); });
    AsynchronousCalls const calls{.rank = rank, .ranks = ranks, .rounds = rounds, .id = id};
    adamant_bench_asynchronous_calls(&calls);
  };
  sim::Options options;
  options.seed = seed;
  options.schedule = {
      .strategy = sim::Strategy::random, .seed = seed, .depth = 3, .choices = std::nullopt};
  sim::Report const report = sim::run(ranks, main, options);
  if (!report.ok()) throw std::runtime_error(sim::describe(report));
}

void add(SuiteRows& rows, std::string const& name, Rate rate) {
  rows.add(name, rate.by_wall, "1/s");
  rows.add(name + "_of_processor", rate.by_processor, "1/s");
}

Rate rate_of_rounds(int rounds) {
  return rate_of(seconds_per_row,
                 [&](int index) { run_schedule(rounds, static_cast<std::uint64_t>(index)); });
}

Rate rate_of_engine() {
  Scenario scenario = load_scenario_text(R"(adamant: 1
name: three steps of the engine
world: {shard: 4}
params: [{name: w, shape: [8, 3]}, {name: b, shape: [5]}]
program: [{train: 3}]
)",
                                         "bench");
  return rate_of(seconds_per_row, [&](int index) {
    auto const seed = static_cast<std::uint64_t>(index);
    scenario.schedule = {.strategy = Schedule::Strategy::random,
                         .seed = seed,
                         .depth = std::nullopt,
                         .choices = std::nullopt};
    RunOptions options;
    options.seed = seed;
    run_and_pass(scenario, options);
  });
}

}  // namespace

void measure_schedules(BenchOptions const&, SuiteRows& rows) {
  add(rows, "schedules_per_second", rate_of_rounds(2));
  add(rows, "120_calls_per_rank", rate_of_rounds(8));
  add(rows, "three_engine_steps", rate_of_engine());
}

}  // namespace adamant::scenarios
