// Which commands there are, and which options each has.
#pragma once

#include "scenarios/program/arguments.h"

namespace CLI {
class App;
}

namespace adamant::scenarios {

/// Adds all commands to the program. What a user gives them goes into `arguments`, which outlives
/// the parsing.
void add_commands(CLI::App& program, Arguments& arguments);

}  // namespace adamant::scenarios
