// What an engine does of checkpoints and faults, and the refusals of the rest: the part of
// seam/support.h that is about files.
#pragma once

#include <optional>

#include "scenarios/seam/support.h"

namespace adamant::scenarios {

/// The reason to refuse what `scenario` says of saves, loads and faults, or none.
std::optional<Refusal> refuse_checkpoints(Scenario const& scenario,
                                          Capabilities const& capabilities);

}  // namespace adamant::scenarios
