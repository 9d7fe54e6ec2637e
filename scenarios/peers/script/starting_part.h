// How the processes of worlds are started, and what is done with those that fail, die or hang.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// Worlds that share processes: a function of the script, and what it is given after the rank.
struct Stay {
  std::vector<World const*> worlds;
  std::string function;
  std::string arguments = "(directory,)";
};

/// Starts the ranks of a stay. `looks`: what the violation is about shows in them.
void write_start(Draft& draft, Stay const& stay, bool looks);

}  // namespace adamant::scenarios::script
