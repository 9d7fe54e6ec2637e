#include "scenarios/program/written_run.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/laws.h"
#include "scenarios/program/version.h"
#include "scenarios/search/minimize/document.h"

namespace adamant::scenarios {

namespace {

/// Is the law that it expects to be broken one about two runs that differ?
bool expects_other_digest(Scenario const& scenario) {
  return scenario.expect.kind == Expectation::Kind::violates &&
         matches(scenario.expect.id, Law::determinism_digest);
}

/// The options by which this run is another one. An engine says its name itself.
std::vector<std::string> options_changing(Scenario const& written, Scenario const& run,
                                          int schedules) {
  std::vector<std::string> options;
  if (run.seed != written.seed) options.push_back(fmt::format("--seed {}", *run.seed));
  if (run.bug != written.bug) options.push_back("--bug " + *run.bug);
  if (schedules > 0) options.push_back(fmt::format("--schedules {}", schedules));
  return options;
}

}  // namespace

void compare_with_written(WrittenRun const& written, Scenario const& run, int schedules,
                          RunResult& result) {
  // A process that died left no digest.
  if (result.outcome == Outcome::error || expects_other_digest(written.scenario)) return;
  Provenance now = provenance_of(written.scenario, result, this_program());
  now.engine = with_versions(run.engine.name);
  std::string text =
      difference(written.provenance, now, options_changing(written.scenario, run, schedules));
  if (!text.empty()) result.notes.push_back(std::move(text));
}

}  // namespace adamant::scenarios
