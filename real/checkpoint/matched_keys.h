// Which saved tensor each of the engine's is loaded from, by its key.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/saved_form.h"
#include "real/checkpoint/state.h"

namespace adamant::real {

struct Matched {
  KeyMap keys = {};                   // of whole tensors; of steps also those of parts
  std::set<std::string> joined = {};  // parameters that were saved in parts
  std::vector<Copy> copies = {};      // of what their parts share
};

/// Main weights are in it where they are saved. Parts are put together in the checkpoint. Says in
/// its notes what is not loaded.
///
/// Errors: CheckpointError where one is missing, or saved as a whole and in parts, and where a
///         checkpoint of ours has one that nothing here stands for.
Matched match_saved(Checkpoint& checkpoint, CheckpointState const& state);

}  // namespace adamant::real
