#include "scenarios/search/generate/engine_options.h"

#include <algorithm>
#include <string>
#include <vector>

namespace adamant::scenarios {

namespace {

/// What goes wrong on purpose is rare, and shows little where files are checked and every save has
/// a directory of its own.
int percent_around_all(Scenario const& scenario) {
  return scenario.faults.empty() ? 85 : 45;
}

/// Any value but `value`, which is one of the option's; or none where that is the only one.
void choose_other(Drawing& draws, EngineOption const& option, std::string const& value,
                  EngineOptions& chosen) {
  std::vector<std::string> others = option.values;
  std::erase(others, value);
  if (others.empty()) return;
  std::string const& other = draws.one_of(others);
  if (other != option.values.front()) chosen.emplace_back(option.name, other);
}

}  // namespace

/// Most cases have one other option or none: what one of them breaks hides what needs another. For
/// the same reason those that do not go around all that is known go around half of it.
void draw_engine_options(Drawing& draws, Scenario& scenario) {
  EngineOptions const& usual = draws.options().usual_options;
  EngineOptions& chosen = scenario.engine.options;
  bool const around_all = draws.chance(percent_around_all(scenario));
  for (EngineOption const& option : draws.able().options) {
    auto const around = std::ranges::find(usual, option.name, &EngineOptions::value_type::first);
    bool const drawn = draws.feature(Feature::engine_option, 20);
    bool const keeps = draws.chance(50);
    if (around == usual.end()) {
      if (drawn) choose_other(draws, option, option.values.front(), chosen);
    } else if (around_all || keeps) {
      chosen.push_back(*around);
    } else {
      choose_other(draws, option, around->second, chosen);
    }
  }
}

}  // namespace adamant::scenarios
