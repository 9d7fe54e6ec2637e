// A scenario that is refused for what its file says: bad input, as one that cannot be read is.
#pragma once

#include <filesystem>
#include <optional>

#include "scenarios/language/scenario.h"
#include "scenarios/runner/admission.h"

namespace adamant::scenarios {

/// Why the scenario's engine refuses what `file` says, unless that is expected; it is said with its
/// line. What this machine has no memory for is a result of running here, although it is known
/// before.
///
/// Errors: MachineLacks.
std::optional<Refusal> refuse_file(std::filesystem::path const& file, Scenario const& scenario);

}  // namespace adamant::scenarios
