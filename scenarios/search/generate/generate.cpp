#include "scenarios/search/generate/generate.h"

#include <optional>

#include "scenarios/search/generate/drawing.h"
#include "scenarios/search/generate/engine_options.h"
#include "scenarios/search/generate/fault.h"
#include "scenarios/search/generate/further_runs.h"
#include "scenarios/search/generate/program_drawing.h"
#include "scenarios/search/generate/settings_drawing.h"

namespace adamant::scenarios {

// Part by part, in a fixed order of draws.
Scenario generate_scenario(std::uint64_t seed, std::uint64_t index,
                           GenerateOptions const& options) {
  Drawing draws(seed, index, options);
  std::optional<Drawing> of_all;
  if (options.scenarios_of_model > 1)
    of_all.emplace(~seed, index / options.scenarios_of_model, options);
  Drawing& model = of_all ? *of_all : draws;
  Scenario scenario;
  scenario.name = "generated";
  scenario.seed = draws.bits() >> 32;
  SettingsDrawing settings(draws, model, scenario);
  ProgramDrawing program(draws, settings, scenario);
  settings.make_model();
  settings.make_before_program();
  program.make();
  settings.make_after_program();
  // What was captured before its formats were known needs a gradient that stays.
  if (program.lost_captures()) scenario.optimizer.keep_cast_grad = true;
  if (options.faults) draw_fault(draws, scenario);
  draw_engine_options(draws, scenario);
  draw_further_runs(draws, settings, scenario);
  settings.make_rare();
  return scenario;
}

}  // namespace adamant::scenarios
