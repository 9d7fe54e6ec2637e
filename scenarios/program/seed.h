// Where a seed comes from when nobody gives one: the only place of the program that asks the system
// for chance. Whoever draws prints it.
#pragma once

#include <cstdint>

namespace adamant::scenarios {

/// Units: below 2^32, which is short enough to retype.
std::uint64_t draw_seed();

}  // namespace adamant::scenarios
