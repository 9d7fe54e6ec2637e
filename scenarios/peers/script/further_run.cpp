#include "scenarios/peers/script/further_run.h"

#include <fmt/format.h>

#include "scenarios/runner/two_runs.h"

namespace adamant::scenarios::script {

Scenario own_run(Scenario scenario) {
  scenario.microbatches = scenario.microbatch_count();
  scenario.other_worlds.clear();
  scenario.again.clear();
  return scenario;
}

std::optional<FurtherRun> further_run_called(Scenario const& scenario, std::string const& text) {
  if (text.empty()) return std::nullopt;
  for (FurtherRun& run : further_runs(scenario))
    if (text_of(scenario, run) == text) return std::move(run);
  throw NoScript(fmt::format("the scenario has no further run with {}", text));
}

// Its message says which: two of one text are the same run.
std::optional<FurtherRun> further_run_refused(Scenario const& scenario, RunResult const& result) {
  for (FurtherRun& run : further_runs(scenario))
    if (result.message.starts_with(fmt::format("with {}: ", text_of(scenario, run))))
      return std::move(run);
  return std::nullopt;
}

int entry_in(FurtherRun const& run, int entry) {
  return run.inserted > 0 && entry >= run.inserted_at - 1 ? entry + run.inserted : entry;
}

}  // namespace adamant::scenarios::script
