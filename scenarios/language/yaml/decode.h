// From a tree of nodes to a scenario: the walks of read.h from the root on, and which names must be
// defined. What a part means is the language's.
#pragma once

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

}  // namespace adamant::scenarios
