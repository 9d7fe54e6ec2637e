// Worlds that hand on a checkpoint, each of which loads, trains and saves: one function does it for
// all of them, where each of them in a function of its own would make a script long.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/script/part.h"

namespace adamant::scenarios::script {

/// What one world does in the common function.
struct Link {
  World const* world = nullptr;
  Act const* load = nullptr;  // null: nothing
  Act const* save = nullptr;  // likewise
  std::int64_t first = 0;     // its first backward
  std::int64_t count = 0;     // so many iterations of the training
};

/// The worlds of a plan, in their order; nothing where they do not all do the same things.
/// REQUIRES: none of them is the script's own process.
std::optional<std::vector<Link>> chain_of(Draft const& draft);

/// `def train(rank, directory, …)`
void write_chain(Draft& draft, std::vector<Link> const& chain);

/// What the function is called with for one of them, after `rank`: a tuple.
std::string arguments_of_link(Draft const& draft, std::vector<Link> const& chain,
                              std::size_t number);

}  // namespace adamant::scenarios::script
