#include "scenarios/search/search.h"

#include <algorithm>

#include "scenarios/search/generate/profile.h"

namespace adamant::scenarios {

namespace {

constexpr int size_max = 100;

}  // namespace

std::uint64_t first_full_case(SearchEngine const& engine) {
  return static_cast<std::uint64_t>(size_max / profile_of(engine.capabilities).growth);
}

Scenario search_case(std::uint64_t seed, std::uint64_t index, std::optional<std::string> const& bug,
                     SearchEngine const& engine) {
  Profile const& profile = profile_of(engine.capabilities);
  Scenario scenario = generate_scenario(
      seed, index,
      {.size = static_cast<int>(std::min(index, first_full_case(engine))) * profile.growth,
       .params_max = profile.params_max,
       .operations_max = profile.operations_max,
       .scenarios_of_model = profile.scenarios_of_model,
       .faults = true,
       .capabilities = engine.capabilities,
       .usual_options = engine.usual_options});
  scenario.engine.name = engine.name;
  scenario.bug = bug;
  return scenario;
}

std::uint64_t search_row(std::uint64_t index, SearchEngine const& engine) {
  std::uint64_t const first = first_full_case(engine);
  return index < first ? index : first + index / profile_of(engine.capabilities).scenarios_of_model;
}

bool search_repeats(std::uint64_t index, SearchEngine const& engine) {
  auto const& promises = engine.capabilities.promises;
  return index % 16 == 0 && std::ranges::count(promises, Promise::repeated) == 0;
}

int search_schedules(std::uint64_t index, SearchEngine const& engine) {
  return index % 128 == 0 ? profile_of(engine.capabilities).further_schedules : 0;
}

}  // namespace adamant::scenarios
