// The operations of a program as the calls that a training loop makes.
#pragma once

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// One world's operations, after its model was made.
void write_program(Draft& draft, World const& world);

/// One turn of a passage, whose gradients are called so.
void write_iteration(Draft& draft, World const& world, Passage const& passage);

}  // namespace adamant::scenarios::script
