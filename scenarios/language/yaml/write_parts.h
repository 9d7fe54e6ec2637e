// The parts of a scenario as YAML text on one line each, by subject: recipe (write_recipe.cpp),
// world and circumstances (write_world.cpp), operations (write_program.cpp). It does not know how
// they are laid out in a file (write.cpp).
#pragma once

#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/language/yaml/flow.h"

namespace adamant::scenarios {

// Maps that are empty where everything has its default.
Flow write_precision(Precision const& precision);
Flow write_precision(PrecisionOverride const& precision);
Flow write_optimizer(Optimizer const& optimizer);

std::string write_groups(std::vector<Group> const& groups);
std::string write_set(SettingsChange const& change);

std::string write_world(World const& world);
std::string write_offload(Offload const& offload);
std::string write_engine(EngineChoice const& engine);
std::string write_schedule(Schedule const& schedule);
std::string write_fault(Fault const& fault);

/// A bare word, or "word: argument".
std::string write_operation(Operation const& operation);

}  // namespace adamant::scenarios
