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

}  // namespace

void measure_cases(BenchOptions const&, SuiteRows& rows) {
  Sizes sizes;
  Rate const rate = rate_of(seconds_per_row, [&](int index) {
    Scenario const scenario = generate_scenario(1, static_cast<std::uint64_t>(index));
    sizes.add(scenario);
    run_and_pass(scenario);
  });
  Rate const generated =
      rate_of(0.2, [&](int index) { generate_scenario(1, static_cast<std::uint64_t>(index)); });
  rows.add_main(rate.by_wall, "1/s");
  rows.add("cases_per_second_of_processor", rate.by_processor, "1/s");
  rows.add("mean_ranks", sizes.ranks / sizes.cases, "ranks");
  rows.add("mean_elements", sizes.elements / sizes.cases, "elements");
  rows.add("mean_operations", sizes.operations / sizes.cases, "operations");
  rows.add("generation_alone", 1e6 / generated.by_processor, "us");
}

}  // namespace adamant::scenarios
