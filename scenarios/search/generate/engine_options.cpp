#include "scenarios/search/generate/engine_options.h"

#include <algorithm>
#include <string>
#include <vector>

namespace adamant::scenarios {

namespace {

constexpr int percent_around_all = 94;  // that is often met

/// What needs several options at once is met where many are drawn; where few are, nothing that one
/// of them breaks hides it.
int percent_of_others(Drawing& draws) {
  bool const many = draws.chance(50);
  return many ? 50 : 10;
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

/// What one option breaks hides what needs another. That is why most cases go around all that is
/// often met, and why those that do not go around half of it.
void draw_engine_options(Drawing& draws, Scenario& scenario) {
  std::vector<UsualOption> const& usual = draws.options().usual_options;
  EngineOptions& chosen = scenario.engine.options;
  int const percent = percent_of_others(draws);
  bool const around_all = draws.chance(percent_around_all);
  for (EngineOption const& option : draws.able().options) {
    auto const around = std::ranges::find(usual, option.name, &UsualOption::name);
    bool const drawn = draws.feature(Feature::engine_option, percent);
    bool const keeps = draws.chance(50);
    if (around == usual.end()) {
      if (drawn) choose_other(draws, option, option.values.front(), chosen);
    } else if (keeps || (around_all && !around->seldom_needed)) {
      chosen.emplace_back(around->name, around->value);
    } else {
      choose_other(draws, option, around->value, chosen);
    }
  }
}

}  // namespace adamant::scenarios
