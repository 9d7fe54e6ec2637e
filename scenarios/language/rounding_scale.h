// Whether a loss scale may make exact gradients round, told from the scenario alone: their sum then
// depends on the order in which ranks are added, and is only known to lie between bounds.
#pragma once

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// Does some parameter have gradients of fp16?
bool has_fp16_gradients(Scenario const& scenario);

/// May exact gradients times this scale round, or overflow? It keeps well away from the limits that
/// scenarios/gradients has.
bool scale_rounds(LossScale const& scale, bool has_fp16);

/// Does that hold for any loss scale that the program comes to?
bool any_scale_rounds(Scenario const& scenario);

}  // namespace adamant::scenarios
