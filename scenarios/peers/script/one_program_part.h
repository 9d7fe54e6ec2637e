// Two runs by one function, which is told on which side it is.
#pragma once

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// The function, and both runs. REQUIRES: `Plan::one_program`.
void write_one_program(Draft& draft);

}  // namespace adamant::scenarios::script
