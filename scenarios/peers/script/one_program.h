// Two runs that do the same in two worlds, as one program.
#pragma once

#include <string_view>

#include "scenarios/peers/script/plan.h"

namespace adamant::scenarios::script {

/// Before the names of a second run's checkpoints, which lie beside those of the first.
inline constexpr std::string_view of_second_run = "again-";

/// Where the two runs of a plan have a world each and do the same there, in processes of their own,
/// they become one program: `Plan::one_program`. It knows by `side` which of them it is.
void unite(Plan& plan);

}  // namespace adamant::scenarios::script
