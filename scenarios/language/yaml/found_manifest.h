// What has to be known of a checkpoint beside a scenario before anything runs: with which norm and
// loss scale the program goes on from it. Whether the files are whole is for who loads them.
#pragma once

#include <filesystem>
#include <optional>

#include "scenarios/language/program.h"

namespace adamant::scenarios {

/// Nothing where the directory has no manifest of adamant's that says it.
std::optional<FoundManifest> find_manifest(std::filesystem::path const& directory);

}  // namespace adamant::scenarios
