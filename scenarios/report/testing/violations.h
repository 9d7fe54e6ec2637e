// A violation of every kind, with everything that belongs to it.
#pragma once

#include <vector>

#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// Of each breach at least one, in their order.
std::vector<Violation> one_of_each();

}  // namespace adamant::scenarios
