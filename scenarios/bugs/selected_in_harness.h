// Which machine-made mistake the woven harness has, beside a bug of the engine, and where it could
// have made one. Included by every woven file that is not the engine's.
#pragma once

#include <array>
#include <cstddef>

#include "scenarios/bugs/selected.h"

namespace adamant::bugs {

/// A function with mistakes, by its file and name; two may share a place.
inline constexpr std::size_t places_in_harness = std::size_t{1} << 14;
constexpr std::size_t place_in_harness(std::string_view function) {
  return key_of(function) % places_in_harness;
}

struct Harness {
  std::uint64_t selected = 0;                        // as selected_key()
  std::array<bool, places_in_harness> reached = {};  // by place: did the function run
};
inline constinit Harness harness;

/// As selected(). What is evaluated at compile time has no mistake.
constexpr std::uint64_t selected_in_harness(std::size_t place) {
  if (std::is_constant_evaluated()) return 0;
  harness.reached[place] = true;
  return harness.selected;
}

}  // namespace adamant::bugs
