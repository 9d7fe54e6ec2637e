// Saves and loads as a training script writes them with torch.distributed.checkpoint, damage to
// files between the two, and a rank that dies in a save.
#pragma once

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// Functions that saves and loads call, as far as the plan has any.
void write_checkpoint_functions(Draft& draft);

/// Does anything reach files?
bool keeps_files(Plan const& plan);

void write_save(Draft& draft, World const& world, Act const& save);
void write_load(Draft& draft, World const& world, Act const& load);
/// Reads one tensor of a checkpoint, without a model, into `tensor`.
///
/// REQUIRES: the plan has such a reading.
void write_reading(Draft& draft);

}  // namespace adamant::scenarios::script
