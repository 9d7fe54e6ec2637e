#include "scenarios/search/search.h"

#include <algorithm>

namespace adamant::scenarios {

namespace {

constexpr int size_max = 100;

// In the time that small cases of an engine outside the process take, larger ones find more.
int growth_of(SearchEngine const& engine) {
  return engine.capabilities.isolated ? 4 : 1;
}

std::uint64_t scenarios_of_model(SearchEngine const& engine) {
  return engine.capabilities.isolated ? 16 : 1;
}

}  // namespace

std::uint64_t first_full_case(SearchEngine const& engine) {
  return static_cast<std::uint64_t>(size_max / growth_of(engine));
}

Scenario search_case(std::uint64_t seed, std::uint64_t index, std::optional<std::string> const& bug,
                     SearchEngine const& engine) {
  GenerateOptions options;
  options.size = static_cast<int>(std::min(index, first_full_case(engine))) * growth_of(engine);
  options.faults = true;
  options.capabilities = engine.capabilities;
  options.usual_options = engine.usual_options;
  options.scenarios_of_model = scenarios_of_model(engine);
  if (engine.capabilities.isolated) {
    options.params_max = 4;
    options.operations_max = 7;
  }
  Scenario scenario = generate_scenario(seed, index, options);
  scenario.engine.name = engine.name;
  scenario.bug = bug;
  return scenario;
}

std::uint64_t search_row(std::uint64_t index, SearchEngine const& engine) {
  std::uint64_t const first = first_full_case(engine);
  return index < first ? index : first + index / scenarios_of_model(engine);
}

bool search_repeats(std::uint64_t index, SearchEngine const& engine) {
  auto const& promises = engine.capabilities.promises;
  return index % 16 == 0 && std::ranges::count(promises, Promise::repeated) == 0;
}

int search_schedules(std::uint64_t index, SearchEngine const& engine) {
  return index % 128 == 0 && !engine.capabilities.isolated ? 1 : 0;
}

}  // namespace adamant::scenarios
