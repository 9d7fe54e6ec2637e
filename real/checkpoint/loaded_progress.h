// Settings, counters and the scaler that a load leads to.
#pragma once

#include "real/checkpoint/index.h"
#include "real/checkpoint/matched_keys.h"
#include "real/checkpoint/state.h"

namespace adamant::real {

/// Those of the manifest, groups in the order of the engine's; without one, settings of now and the
/// steps of the files.
///
/// Errors: CheckpointError where groups, their parameters or steps do not fit, or where the files'
///         steps are damaged; StorageError.
Progress loaded_progress(Checkpoint const& checkpoint, KeyMap const& matched,
                         CheckpointState const& state);

}  // namespace adamant::real
