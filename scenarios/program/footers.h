// What stands below the options in a command's help: those of every command, an example, and how
// the command ends.
#pragma once

#include <string>
#include <string_view>

#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

std::string footer_of(Command command);

/// The same with an example; and what 1 means, "" where that never happens.
std::string footer(std::string_view example, std::string_view failure);

}  // namespace adamant::scenarios
