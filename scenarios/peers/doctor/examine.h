// The whole examination of an engine outside the process: what it says of itself, how it behaves
// where no scenario leads, and what small scenarios find. `adamant doctor --engine` prints it.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/doctor/probe.h"

namespace adamant::scenarios {

/// Looks at everything, and tells `read` of each probe when it is done. An engine that does not
/// say what it offers is examined no further. An interrupt (pool/interrupt.h) ends it early.
///
/// REQUIRES: is_peer(engine).
/// Errors: MachineLacks where the engine cannot be started: its process ends, or is silent, before
///         it has answered anything.
std::vector<Probe> examine_engine(std::string const& engine, ProbeReader const& read);

}  // namespace adamant::scenarios
