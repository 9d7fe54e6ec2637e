// What reports have in common with what is announced as soon as it is found.
#pragma once

#include <string>

#include "sim/sim.h"

namespace adamant::sim {

/// "order.race: rank 0: what is wrong"; without a rank where it is nobody's.
std::string heading_of(Violation const& violation);

}  // namespace adamant::sim
