// How complicated a scenario is, as a number of many digits: what a reader has to follow comes
// first. Every success makes it smaller, so no chain of them is endless, and of two
// scenarios that show one defect the lighter one is the better file.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// The digits, the most important first.
enum class Digit {
  size,      // what a reader goes through: operations that are executed, features, ranks and
             // parameters together
  executed,  // primitive operations that are executed: train is three or four
  entries,   // of the program
  ranks,     // of the largest world, then those of all worlds
  ranks_of_all,
  params,
  features,  // settings, options and faults that are not at their defaults
  elements,  // a tensor without any counts as eight: the reader stops at it
  dimensions,
  kinds,     // of operations: check before backward before set …
  keys,      // of features, by their places in the tables
  values,    // of settings, as scenarios/search/minimize/usual.h ranks them
  schedule,  // fifo, then recorded choices by number, then strategies
  choices,   // recorded ones that are not 0
  microbatches,
  seed,
  names,     // that are not the canonical ones
  disorder,  // neighbours that stand in the other order than the canonical one
  count_of_digits
};

struct Weight {
  std::array<std::uint64_t, static_cast<std::size_t>(Digit::count_of_digits)> digits = {};
  std::uint64_t& operator[](Digit digit) { return digits[static_cast<std::size_t>(digit)]; }

  friend auto operator<=>(Weight const&, Weight const&) = default;
};

Weight weight_of(Scenario const& scenario);

/// The name of parameter `index` in a minimised scenario. Where parameters are in several units the
/// names say so.
std::string canonical_name(std::size_t index, int unit, bool in_units);
/// The name of part `index` of a parameter.
std::string canonical_part(std::size_t index);
/// The name of group `index`.
std::string canonical_group(std::size_t index);
/// The names a, b, c … of the checkpoints that the program saves, in the order of their first save,
/// by the names that they have. One that is loaded before it is saved is a directory, and keeps its
/// name.
std::map<std::string, std::string> canonical_checkpoints(Scenario const& scenario);

}  // namespace adamant::scenarios
