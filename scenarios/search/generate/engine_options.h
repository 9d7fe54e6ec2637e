// Options of the engine for a scenario whose program and faults are drawn.
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

/// Draws which ways around known defects the scenario takes (GenerateOptions::usual_options), and
/// some other options. What is the default is not written, but for ways around.
void draw_engine_options(Drawing& draws, Scenario& scenario);

}  // namespace adamant::scenarios
