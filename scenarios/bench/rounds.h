// Contenders that take turns, so that a slow minute of a machine is everybody's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "scenarios/bench/rows.h"

namespace adamant::scenarios {

/// What each contender gives, a value a round. A round before these warms up.
inline std::vector<std::vector<double>> by_turns(
    int rounds, std::vector<std::function<double()>> const& contenders) {
  std::vector<std::vector<double>> values(contenders.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      double const value = contenders[c]();
      if (round >= 0) values[c].push_back(value);
    }
  }
  return values;
}

/// Round by round.
inline std::vector<double> ratios_of(std::vector<double> const& over,
                                     std::vector<double> const& under) {
  std::vector<double> ratios(over.size());
  std::ranges::transform(over, under, ratios.begin(), std::divides());
  return ratios;
}

/// Of several contenders' times those of the least median.
inline std::vector<double> const& fastest_of(std::span<std::vector<double> const> contenders) {
  return *std::ranges::min_element(contenders, {}, median);
}

}  // namespace adamant::scenarios
