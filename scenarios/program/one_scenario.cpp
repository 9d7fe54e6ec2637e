#include "scenarios/program/one_scenario.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "scenarios/program/inputs.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/refused_file.h"
#include "scenarios/program/seed.h"

namespace adamant::scenarios {

std::optional<OneScenario> read_one_scenario(Arguments const& arguments) {
  std::vector<ScenarioFile> found = read_scenarios(arguments.paths);
  if (found.size() > 1)
    complain(fmt::format("{}: a directory with several scenarios; name one file",
                         arguments.paths.front().string()));
  if (found.size() != 1) return std::nullopt;  // none: interrupted
  ScenarioFile& file = found.front();
  if (file.is_read()) file.error = distrust(arguments, file.path, file.scenario);
  if (!file.is_read()) {
    complain(file.error);
    return std::nullopt;
  }
  Inputs inputs(arguments);
  inputs.add(file);
  inputs.refuse_as_outputs(arguments);
  OneScenario one{.name = file.path.string(), .scenario = std::move(file.scenario)};
  if (arguments.engine) one.scenario.engine.replace(*arguments.engine);
  if (arguments.seed) one.scenario.seed = arguments.seed;
  if (arguments.bug) one.scenario.bug = *arguments.bug;
  if (!one.scenario.seed) one.scenario.seed = draw_and_say_seed(arguments);
  if (refuse_file(one.name, one.scenario)) return std::nullopt;
  return one;
}

}  // namespace adamant::scenarios
