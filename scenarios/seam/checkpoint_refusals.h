// What an engine does of checkpoints and faults, and the refusals of the rest: the part of
// seam/refusals.h that is about files.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// Are there two saves of what the nth load of the program loads, from 1, before it?
bool has_older_save(Scenario const& scenario, std::int64_t nth);

/// The reason to refuse what `scenario` says of saves, loads and faults, or none.
std::optional<Refusal> refuse_checkpoints(Scenario const& scenario,
                                          Capabilities const& capabilities);

}  // namespace adamant::scenarios
