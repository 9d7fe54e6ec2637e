// Loading: this rank's shard of every tensor out of whatever files another world has saved. First
// everything that can be known without changing anything is checked, on all ranks; only then are
// shards overwritten.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "real/checkpoint/save.h"
#include "real/engine.h"

namespace adamant::real {

struct Loaded {
  Progress progress;               // groups in the order of the engine's
  std::vector<std::string> notes;  // what a user should hear of
  std::vector<int> quantise;       // parameters whose codes have still to be made of main weights
};

/// Called by all ranks, with the same options. `state` says what is to be filled and what the
/// engine has now; the result says what is to become of progress. `replacing` is called when shards
/// begin to change.
///
/// Stream: returns when the shards are filled.
/// Errors: CheckpointError, StorageError, the same on all ranks; before `replacing` the shards are
///         as they were, after it they are worth nothing. CudaError, NcclError.
Loaded load_checkpoint(CheckpointPlace const& place, CheckpointState const& state,
                       LoadOptions const& options, std::function<void()> const& replacing);

}  // namespace adamant::real
