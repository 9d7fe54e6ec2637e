// The seed of a command: the only place of the program that asks the system for chance. Whoever
// draws prints it.
#pragma once

#include <cstdint>

#include "scenarios/program/arguments.h"

namespace adamant::scenarios {

/// Units: below 2^32, which is short enough to retype.
std::uint64_t draw_seed();

/// What the command line gives, or one that is drawn.
std::uint64_t seed_of(Arguments const& arguments);
void say_seed(Arguments const& arguments, std::uint64_t seed);

/// One for scenarios that have none, which is said but with --quiet.
std::uint64_t draw_and_say_seed(Arguments const& arguments);

}  // namespace adamant::scenarios
