// What is lost where an engine runs scenarios that were written for another one, as the one on GPUs
// runs those for the simulator: some it cannot execute, and some show nothing there.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

/// Why `scenario`, written for the engine `meant`, tells nothing of the engine `here`: the reason
/// of a refusal that `meant` does not have, or a law that simulated worlds alone watch. Nothing
/// where it runs, or is refused by both alike.
std::optional<std::string> why_not_for(Scenario const& scenario, Capabilities const& meant,
                                       Capabilities const& here);

}  // namespace adamant::scenarios
