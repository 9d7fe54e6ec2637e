// What a scenario's ranks would need in memory, from the oracle's count alone: nothing is executed,
// and no tensor exists.
#pragma once

#include <optional>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/memory.h"

namespace adamant::scenarios {

/// World after world in the program's order, and of each world the ranks by the lowest of those
/// that need the same.
///
/// Nothing where that would take minutes: of thousands of parameters on as many ranks that have
/// different parts of them, or through as many worlds or operations.
///
/// Not counted: what save and load take while they run (checkpoint_bytes_max), and what the model
///              takes beside its parameters and gradients. Faults do not strike.
/// REQUIRES: an engine that refuses nothing of it, and so few ranks that an int counts them.
std::optional<std::vector<PlannedMemory>> plan_memory(Scenario const& scenario);

}  // namespace adamant::scenarios
