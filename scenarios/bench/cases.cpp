// Generated scenarios per second, as `fuzz` runs them, in one process.
#include "scenarios/bench/measure.h"
#include "scenarios/bench/suite.h"
#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {

namespace {

constexpr double seconds_per_row = 3;

/// What was run, on average, so that the rate can be compared.
struct Sizes {
  double cases = 0;
  double ranks = 0;
  double elements = 0;
  double operations = 0;

  void add(Scenario const& scenario) {
    ++cases;
    ranks += static_cast<double>(scenario.world.rank_count());
    operations += static_cast<double>(operation_count(scenario.program));
    for (ParameterSpec const& spec : parameter_specs(scenario)) {
      elements += static_cast<double>(spec.numel());
    }
  }
};

Row row(std::string name, double value, std::string unit) {
  return {.suite = "cases_per_second",
          .name = std::move(name),
          .value = value,
          .unit = std::move(unit)};
}

}  // namespace

std::vector<Row> measure_cases(BenchOptions const&) {
  Sizes sizes;
  Rate const rate = rate_of(seconds_per_row, [&](int index) {
    Scenario const scenario = generate_scenario(1, static_cast<std::uint64_t>(index));
    sizes.add(scenario);
    run_and_pass(scenario);
  });
  Rate const generated =
      rate_of(0.2, [&](int index) { generate_scenario(1, static_cast<std::uint64_t>(index)); });
  return {row("cases_per_second", rate.by_wall, "1/s"),
          row("cases_per_second_of_processor", rate.by_processor, "1/s"),
          row("mean_ranks", sizes.ranks / sizes.cases, "ranks"),
          row("mean_elements", sizes.elements / sizes.cases, "elements"),
          row("mean_operations", sizes.operations / sizes.cases, "operations"),
          row("generation_alone", 1e6 / generated.by_processor, "us")};
}

}  // namespace adamant::scenarios
