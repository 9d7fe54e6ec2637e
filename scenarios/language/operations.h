// Questions to a program about some of its verbs, but for what stands inside captures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/language/match.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// Does the program have one of these verbs?
template <typename... Verbs>
bool has(std::span<Operation const> program) {
  return std::ranges::any_of(program,
                             [](Operation const& each) { return is<Verbs...>(each.action); });
}

/// Those of one verb, in order.
template <typename Verb>
std::vector<Verb const*> all(std::span<Operation const> program) {
  std::vector<Verb const*> found;
  for (Operation const& operation : program)
    if (auto const* verb = std::get_if<Verb>(&operation.action)) found.push_back(verb);
  return found;
}

/// Ranks of the largest world that the program comes to.
std::int64_t most_ranks(Scenario const& scenario);

/// The checkpoints that are loaded before the program has saved them.
std::set<std::string> loaded_from_outside(std::span<Operation const> program);

}  // namespace adamant::scenarios
