// What reports have in common with what is announced as soon as it is found.
#pragma once

#include <string>

#include "sim/sim.h"

namespace adamant::sim {

/// "order.race: rank 0: what is wrong"; without a rank where it is nobody's.
std::string heading_of(Violation const& violation);

/// Of host code that did not wait for an operation: who does what too early, by lines where they
/// are known.
std::string missing_wait(Access const& host, Access const& operation);

}  // namespace adamant::sim
