// Holds what --json writes to scenarios/results.schema.json: in a program with this file each
// document that a test of the program reads.
#pragma once

#include "scenarios/peers/doctor/json_schema.h"

namespace adamant::scenarios {

JsonSchema const& results_schema();

}  // namespace adamant::scenarios
