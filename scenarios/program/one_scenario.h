// The one scenario that a command is about, with what its command line replaces.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

struct OneScenario {
  std::string name;  // of its file, as it was found
  Scenario scenario;
};

/// It has a seed, which is drawn where nobody gave one. Nothing where it cannot be read, is refused
/// as it stands, or is one of several; that is said.
///
/// Errors: MachineLacks.
std::optional<OneScenario> read_one_scenario(Arguments const& arguments);

}  // namespace adamant::scenarios
