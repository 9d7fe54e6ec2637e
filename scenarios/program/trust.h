// Which commands may run that files name: a scenario may come from anybody, and a command is
// whatever its author wants to do here.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

/// Why the engine that a file names may not run here, as `file:line: key: message`; empty where it
/// is no command, where this call names the same one or another engine, or trusts its files. A dry
/// run runs none.
std::string distrust(Arguments const& arguments, std::filesystem::path const& file,
                     Scenario const& scenario);

}  // namespace adamant::scenarios
