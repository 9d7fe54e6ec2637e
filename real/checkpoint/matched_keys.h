// Which saved tensor each of the engine's is loaded from, by its key.
#pragma once

#include <map>
#include <string>

#include "real/checkpoint/index.h"
#include "real/checkpoint/state.h"

namespace adamant::real {

/// From a key of the engine's to the saved one.
using KeyMap = std::map<std::string, std::string>;

/// Main weights are in it where they are saved. Says in the checkpoint's notes what is not loaded.
///
/// Errors: CheckpointError where one is missing, and where a checkpoint of ours has one that
/// nothing
///         here stands for.
KeyMap match_saved(Checkpoint& checkpoint, CheckpointState const& state);

}  // namespace adamant::real
