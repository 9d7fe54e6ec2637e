// `adamant minimize FILE`: reduces a failing scenario.
#pragma once

#include "scenarios/cli/arguments.h"
#include "scenarios/cli/status.h"

namespace adamant::scenarios {

/// Errors: CannotWrite.
Status minimize_command(Arguments const& arguments);

}  // namespace adamant::scenarios
