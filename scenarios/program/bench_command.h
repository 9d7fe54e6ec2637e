// `adamant bench`: measures, prints a table, writes the rows.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Errors: CannotWrite.
Status bench_command(Arguments const& arguments);

}  // namespace adamant::scenarios
