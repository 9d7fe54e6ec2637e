// The further runs that a scenario may have: those that have to come to the same, whatever engine
// it is, and that can be made. A part of seam/refusals.h.
#pragma once

#include <optional>

#include "scenarios/language/further_runs.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// The reason why a further run need not come to the same, or cannot be made; or none.
std::optional<Refusal> refuse_further_run(Scenario const& scenario, FurtherRun const& run);

}  // namespace adamant::scenarios
