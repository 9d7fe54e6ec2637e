// Looks at what only others read of a save: which files there are, which rank has written what, the
// steps in them, the values of numbers that are not stored in fp32, and the manifest. Other tensors
// are judged when they are loaded, because only a load says what an engine makes of its own files.
#pragma once

#include <optional>
#include <span>

#include "scenarios/judge/reference.h"
#include "scenarios/judge/saved/boxes.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// The first thing that is wrong with them. There must be files of each rank, the manifest and no
/// other. Every element is in the files of the lowest rank that holds it, once, and in as few boxes
/// as it takes; every step must be what the oracle counted. Beside numbers that are stored in less
/// than fp32 stand their values, and their scales where they have any.
std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, SavingWorld const& world);

}  // namespace adamant::scenarios
