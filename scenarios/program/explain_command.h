// `adamant explain FILE`: the operations and roundings of one value.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Errors: CannotWrite; MachineLacks.
Status explain_command(Arguments const& arguments);

}  // namespace adamant::scenarios
