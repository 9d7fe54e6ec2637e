// What stands below the options in a command's help: those of every command, an example, and how
// the command ends.
#pragma once

#include <string>

#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

std::string footer_of(Command command);

}  // namespace adamant::scenarios
