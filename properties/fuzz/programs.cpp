#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/language/further_runs.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/provenance.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/program_walk.h"
#include "scenarios/search/generate/features.h"

namespace adamant::properties {

namespace {

constexpr int primitives_max = 10'000;  // a `train` may stand for 2^60 of them

void walk(scenarios::Scenario const& scenario) {
  scenarios::Program const program(scenario);
  scenarios::ProgramWalk walk(program);
  for (int count = 0; count < primitives_max; ++count) {
    auto const primitive = walk.next();
    if (!primitive) return;
    auto const* const load = primitive->as<scenarios::resolved::Load>();
    if (load != nullptr && load->setting > 0) program.setting(load->setting);
  }
}

}  // namespace

bool read_program(Bytes text) try {
  scenarios::provenance_in(text_of(text));
  auto const scenario = scenarios::load_scenario_text(text_of(text), "f.yaml");
  scenarios::features_of(scenario);
  scenarios::RunOptions options;
  options.engine = "sim";  // whatever it names, no command of it is run
  options.dry = true;
  auto const planned = scenarios::run_scenario(scenario, options);
  if (planned.outcome == scenarios::Outcome::refused) return false;
  walk(scenario);
  for (auto const& run : scenarios::further_runs(scenario)) walk(run.scenario);
  return true;
} catch (scenarios::LoadError const&) {
  return false;
}

}  // namespace adamant::properties
