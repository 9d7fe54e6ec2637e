// Holds what the manifest of a save says beside its list of files to the oracle: groups with their
// settings and members, both counters of every parameter, its parts, loss scale and norm.
#pragma once

#include <optional>
#include <string>

#include "scenarios/judge/reference.h"
#include "scenarios/judge/saved/files.h"

namespace adamant::scenarios {

/// The first thing that is wrong, or nothing. REQUIRES: files with a manifest.
///
/// Errors: std::exception where it lacks what it has to say.
std::optional<std::string> fault_of_manifest(SavedFiles const& saved, Reference const& reference);

}  // namespace adamant::scenarios
