// Further runs of a drawn scenario, of the kinds in which its engine promises to come to the same.
#pragma once

#include "scenarios/search/generate/settings_drawing.h"

namespace adamant::scenarios {

/// At most one in other worlds and one of another kind. Nothing is drawn for an engine that
/// promises nothing.
void draw_further_runs(Drawing& draws, SettingsDrawing& settings, Scenario& scenario);

}  // namespace adamant::scenarios
