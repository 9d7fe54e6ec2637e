// The parameter lists of public models: one YAML file each, names and shapes only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// The parameters of DIRECTORY/`name`.yaml, or none where there is no such file. An empty directory
/// stands for default_models_directory().
///
/// REQUIRES: is_name(name), so that it cannot lead out of the directory.
/// Errors:   BadInput naming the model's file where it is there but is not a list of parameters.
std::optional<std::vector<Param>> find_model(std::filesystem::path const& directory,
                                             std::string const& name);

/// The names of all models, "a, b, c" in order, for messages.
std::string known_models(std::filesystem::path const& directory);

}  // namespace adamant::scenarios
