// A scenario that this program wrote, on its replay: does it come to what it came to then?
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/report/provenance.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

struct WrittenRun {
  Provenance provenance;
  Scenario scenario;  // as the file says it
};

/// Adds a note to `result` where the digest is another one than was written. `run` is the scenario
/// as it ran, with what the command line put in the place of what the file says, and so many
/// `schedules` more.
void compare_with_written(WrittenRun const& written, Scenario const& run, int schedules,
                          RunResult& result);

}  // namespace adamant::scenarios
