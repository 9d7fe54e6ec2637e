// The optimizer of a script: its class, its settings and its groups.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// The optimizer's groups that have parameters, in PyTorch's order, by the scenario's numbers.
std::vector<int> used_groups(Scenario const& scenario);

/// The argument by which a world chooses one of PyTorch's implementations: "fused=True".
std::string implementation_of(World const& world);

/// `optimizer`, over the parameters of `model`, with the argument that chooses its implementation.
void write_optimizer(Draft& draft, std::string const& implementation);

}  // namespace adamant::scenarios::script
