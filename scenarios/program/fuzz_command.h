// `adamant fuzz`: generates scenarios from a seed, runs each in a worker process, and minimises
// failures until each is explained by a small scenario.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Ends with 1 if anything was found.
///
/// Errors: CannotWrite.
Status fuzz_command(Arguments const& arguments);

}  // namespace adamant::scenarios
