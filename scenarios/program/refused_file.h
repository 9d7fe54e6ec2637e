// A scenario that is refused for what its file says: bad input, as one that cannot be read is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/runner/admission.h"

namespace adamant::scenarios {

/// Why the scenario's engine refuses what `file` says, unless that is expected; it is said with its
/// line. What this machine has no memory for is a result of running here, although it is known
/// before.
///
/// Errors: MachineLacks.
std::optional<Refusal> refuse_file(std::filesystem::path const& file, Scenario const& scenario);

/// Files come from anybody, and a command is whatever its author wants to do here. Why the engine
/// that `file` names may not run, as `file:line: key: message`; empty where it is no command, where
/// this call names the same one or another engine, or trusts its files. A dry run runs none.
std::string distrust(Arguments const& arguments, std::filesystem::path const& file,
                     Scenario const& scenario);

}  // namespace adamant::scenarios
