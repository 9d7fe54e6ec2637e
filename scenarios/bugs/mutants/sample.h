// A part of all mutants, spread over operators, functions and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace adamant::bugs {

/// Where a mutant stands, in numbers that are the same for the same thing.
struct Stratum {
  std::size_t operator_index = 0;
  std::size_t file = 0;
  std::size_t function = 0;  // of all files
  std::uint64_t lot = 0;     // by which those that are alike else are told apart
};

/// Draws as many of `mutants` as are wanted and there: operators by turns, of each the mutant in
/// the function, then the file, from which the fewest were drawn, then the one of the lowest lot.
/// Returns their indices in ascending order.
std::vector<std::size_t> draw_sample(std::vector<Stratum> const& mutants, std::size_t wanted);

}  // namespace adamant::bugs
