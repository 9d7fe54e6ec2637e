// From a tree of nodes to a scenario: the walks of read.h from the root on, and which names must be
// defined. What a part means is the language's.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/reader.h"

namespace adamant::scenarios {

/// The scenario at the root of a document; problems are left in `reader`.
Scenario decode_scenario(Reader& reader, Node const& root, LoadOptions const& options);

/// A list of parameters, as scenarios and lists of models have it.
void decode_param_list(Reader& reader, Field const& field, std::vector<Param>& params);

/// Names that must be defined elsewhere, once all parts are read without a problem: groups of
/// parameters, parameters in `without`, ranks of faults, checkpoints that are loaded.
void check_references(Reader& reader, Scenario& scenario, Field const& document,
                      LoadOptions const& options);

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
