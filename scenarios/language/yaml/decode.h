// From a tree of nodes to a scenario: which key means what, what it accepts, and which names must
// be defined. One function for each part of the format; what a part means is the model's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/map_reader.h"

namespace adamant::scenarios {

/// The scenario at the root of a document; problems are left in `reader`.
Scenario decode_scenario(Reader& reader, Node const& root, LoadOptions const& options);

// The parts, in the order of the format. Each reads `field` into the value and notes problems.

void decode_world(Reader& reader, Field const& field, World& world);
void decode_offload(Reader& reader, Field const& field, Offload& offload);
void decode_engine(Reader& reader, Field const& field, EngineChoice& engine);
void decode_schedule(Reader& reader, Field const& field, Schedule& schedule);
void decode_faults(Reader& reader, Field const& field, std::vector<Fault>& faults);

void decode_precision(Reader& reader, Field const& field, PrecisionOverride& precision);
void decode_groups(Reader& reader, Field const& field, std::vector<Group>& groups);
void decode_optimizer(Reader& reader, Field const& field, Scenario& scenario);
void decode_set(Reader& reader, Field const& field, SettingsChange& change);

void decode_param_list(Reader& reader, Field const& field, std::vector<Param>& params);
/// The list or the model's: fills scenario.params and scenario.model.
void decode_params(Reader& reader, Field const& field, LoadOptions const& options,
                   Scenario& scenario);

void decode_program(Reader& reader, Field const& field, std::vector<Operation>& program);

/// Names that must be defined elsewhere, once all parts are read without a problem: groups of
/// parameters, parameters in `without`, ranks of faults, checkpoints that are loaded. `map` is the
/// document.
void check_references(Reader& reader, Scenario const& scenario, MapReader const& map,
                      LoadOptions const& options);

}  // namespace adamant::scenarios
