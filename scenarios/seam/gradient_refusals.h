// What steps find of gradients, told from the program alone: which parameters have one, whether it
// has been divided by a loss scale before, and whether its type lets that happen. The refusals of
// what an engine would do otherwise than the language says; the part of seam/refusals.h that needs
// the order of operations.
#pragma once

#include <optional>

#include "scenarios/seam/refusals.h"

namespace adamant::scenarios {

/// The reason to refuse how `scenario` uses gradients, or none.
///
/// Both kinds of step counters count the same as long as every parameter has a gradient in every
/// step, so the other kind does there.
std::optional<Refusal> refuse_gradient_use(Scenario const& scenario,
                                           Capabilities const& capabilities);

}  // namespace adamant::scenarios
