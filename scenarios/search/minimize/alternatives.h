// Small scenarios that many a failing one leads to. A pass changes one thing and keeps the rest, so
// it ends where no single change helps, and that depends on where it began. These are put together
// from their beginning instead: a program, settings and a world, each from a list. What fails
// alike mostly shares the first of them that fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "scenarios/search/minimize/candidates.h"

namespace adamant::scenarios {

/// One way to fill in a part of a scenario: its program, its settings, or its world with what lies
/// on it.
struct AlternativePart {
  std::function<void(Scenario&)> fill;
  std::uint64_t size = 0;  // what it adds to the scenario's; see Digit::size
};

/// A scenario of one rank and one element at which everything has its default, without a program;
/// of `scenario` it has what a reader calls it by, the engine and the bug.
Scenario blank_like(Scenario const& scenario);

/// Of each list the first part is the one that the scenario has; of settings and worlds the second
/// is blank.
struct Lists {
  std::vector<AlternativePart> programs = {};
  std::vector<AlternativePart> settings = {};
  std::vector<AlternativePart> worlds = {};
  AlternativePart const& no_settings() const { return settings[1]; }
  AlternativePart const& blank_world() const { return worlds[1]; }
  std::size_t few_programs = 0;  // so many at the beginning are likelier than the others
  std::size_t own_settings = 0;  // so many are some of what the scenario has
  std::size_t few_settings = 0;
  std::size_t few_worlds = 0;
};
Lists lists_of(Scenario const& scenario);

void add_programs(Scenario const& scenario, Lists& lists);
void add_settings(Scenario const& scenario, Lists& lists);
void add_worlds(Scenario const& scenario, Lists& lists);

/// What a scenario that has this part, and is blank otherwise, is larger by than one without it.
AlternativePart make_part(Scenario const& blank, std::function<void(Scenario&)> fill);

/// Shows scenarios that are lighter than `scenario`: those in which one of its three parts
/// is another one, and then others, each kind from the smallest up and at most `most` of a kind.
/// `first` and `look` are as those of look_at_proposals().
void look_at_alternatives(Scenario const& scenario, Capabilities const& capabilities,
                          std::size_t most, std::size_t first, Candidates::Look const& look);

}  // namespace adamant::scenarios
