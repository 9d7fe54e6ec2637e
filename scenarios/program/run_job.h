// One scenario of `adamant run` with all that the command line says about it, before it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/report/provenance.h"
#include "scenarios/runner/run.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A scenario that this program wrote, on its replay: does it come to what it came to then?
struct WrittenRun {
  Provenance provenance;
  Scenario scenario;  // as the file says it
};

struct RunJob {
  ScenarioFile file;
  RunOptions options = {};
  std::optional<WrittenRun> written = {};
  bool refused_while_reading = false;
  int line = 0;  // of the refusal; 0: unknown
};

/// `several`: does this call run more than this one? `drawn`: the seed of scenarios that have none.
/// Says it where the scenario is refused and does not expect that.
RunJob make_job(Arguments const& arguments, ScenarioFile file, std::optional<std::uint64_t> drawn,
                bool several);

/// The seed for scenarios that have none, where there is such a one: drawn and said.
std::optional<std::uint64_t> draw_if_needed(Arguments const& arguments,
                                            std::vector<ScenarioFile> const& files);

/// Does each file that this call writes belong to one scenario? Says which does not.
bool has_distinct_outputs(Arguments const& arguments, std::vector<ScenarioFile> const& files);

/// The line to paste that runs this file again as this call does.
std::string replay_of(Arguments const& arguments, ScenarioFile const& file);

/// Adds a note to `result` where the digest is another one than was written. `run` is the scenario
/// as it ran, with what the command line put in the place of what the file says, and so many
/// `schedules` more.
void compare_with_written(WrittenRun const& written, Scenario const& run, int schedules,
                          RunResult& result);

}  // namespace adamant::scenarios
