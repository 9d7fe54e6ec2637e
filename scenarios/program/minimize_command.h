// `adamant minimize FILE`: minimises a failing scenario.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Errors: CannotWrite.
Status minimize_command(Arguments const& arguments);

}  // namespace adamant::scenarios
