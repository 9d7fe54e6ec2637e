// `adamant hunt`: how fast random search finds each catalogued bug. The alarm is tested with it: a
// canary that every search must find is always among the hunted.
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Met where every bug was found by its law.
///
/// Errors: CannotWrite.
Status hunt_command(Arguments const& arguments);

}  // namespace adamant::scenarios
