// The optimizer of a script: its class, its settings and its groups.
#pragma once

#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// The optimizer's groups that have parameters, in PyTorch's order, by the scenario's numbers.
std::vector<int> used_groups(Scenario const& scenario);

/// `optimizer`, over the parameters of `model`.
void write_optimizer(Draft& draft);

}  // namespace adamant::scenarios::script
