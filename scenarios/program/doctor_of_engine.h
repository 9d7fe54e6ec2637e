// `adamant doctor --engine E`: the examination of an engine outside the process, as lines for
// people and as a document for machines. What is examined is the doctor's
// (scenarios/peers/doctor/).
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// One line a probe: `ok`, `failed` with what was expected and found, or `not offered`.
///
/// REQUIRES: arguments.engine.
/// Errors: CannotWrite; MachineLacks where the engine cannot be started.
Status examine_engine_command(Arguments const& arguments);

}  // namespace adamant::scenarios
