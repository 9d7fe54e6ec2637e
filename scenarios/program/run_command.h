// `adamant run`: reads all files, runs each in a worker process, reports in the order of the files.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// A refusal that is seen while reading and not expected ends with 2; the other files still run.
///
/// Errors: CannotWrite.
Status run_command(Arguments const& arguments);

}  // namespace adamant::scenarios
