// What is refused before anything runs: what an engine does not support (seam/refusals.h), more
// microbatches than can be summed, and worlds that this machine has no memory for.
#pragma once

#include <optional>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// The reason not to run `scenario` here, or none.
std::optional<Refusal> refuse_to_run(Scenario const& scenario, Capabilities const& capabilities);

/// The same but for what this machine has no memory for, which matters to who executes it alone.
std::optional<Refusal> refuse_to_plan(Scenario const& scenario, Capabilities const& capabilities);

/// About how many bytes a run needs on this machine, oracle included; an upper bound for large
/// models. A double, because shapes may multiply to more than 2^64.
double bytes_needed(Scenario const& scenario, Capabilities const& capabilities);

}  // namespace adamant::scenarios
