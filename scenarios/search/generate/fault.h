// What goes wrong in a scenario on purpose: memory that is refused, a crash, damage to a file.
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

/// At most one thing, and only where it is known how the run ends then.
void draw_fault(Drawing& draws, Scenario& scenario);

}  // namespace adamant::scenarios
