// Holds the files of a save to the oracle, by the plain reader: an engine that reads and writes
// wrongly by the same mistake gets its own state back, and nobody else does.
#pragma once

#include <optional>
#include <span>

#include "scenarios/judge/reference.h"
#include "scenarios/seam/engine.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// The first thing that is wrong with them. There must be a file of each rank, the manifest and no
/// other; every tensor must have the oracle's bits, and every step be what the oracle counted.
std::optional<Violation> fault_of_saved(std::span<StoredFile const> files,
                                        Reference const& reference, int rank_count);

}  // namespace adamant::scenarios
