#include "scenarios/search/generate/generate.h"

#include <algorithm>
#include <variant>

#include "scenarios/search/generate/drawing.h"
#include "scenarios/search/generate/fault.h"
#include "scenarios/search/generate/program.h"
#include "scenarios/search/generate/settings.h"

namespace adamant::scenarios {

namespace {

/// Loads are drawn before the types of a scenario are: those that would lead to types that cannot
/// stand together keep the types that are there.
void keep_types_possible(Scenario& scenario) {
  Scenario setting = scenario;
  auto const is_possible = [&](Param const& param) {
    return !conflict_in(setting.precision_of(param));
  };
  for (Operation& operation : scenario.program) {
    auto* const load = std::get_if<Load>(&operation.action);
    if (load == nullptr) continue;
    Precision const before = setting.precision;
    setting.precision = with(before, load->precision);
    if (std::all_of(setting.params.begin(), setting.params.end(), is_possible)) continue;
    setting.precision = before;
    load->precision = {};
  }
}

}  // namespace

// Part by part, in a fixed order of draws.
Scenario generate_scenario(std::uint64_t seed, std::uint64_t index,
                           GenerateOptions const& options) {
  Drawing draws(seed, index, options);
  Scenario scenario;
  scenario.name = "generated";
  scenario.seed = draws.bits() >> 32;
  SettingsDrawing settings(draws, scenario);
  ProgramDrawing program(draws, settings, scenario);
  settings.make_before_program();
  program.make();
  settings.make_after_program();
  // What was captured before its formats were known needs a gradient that stays.
  if (program.lost_captures()) scenario.optimizer.keep_cast_grad = true;
  keep_types_possible(scenario);
  if (options.faults) draw_fault(draws, scenario);
  return scenario;
}

}  // namespace adamant::scenarios
