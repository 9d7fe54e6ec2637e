// Every combination of number formats of the scenario language: which of them work, and what they
// cost. Made from what scenarios are resolved to, for documents and for the test that runs each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// Types of a parameter and all that belongs to it, and how its gradient is handed over.
struct Combination {
  Precision precision;
  bool decoupled_grad = true;
};

/// Every one whose parameter is a plain number, those that are refused too.
std::vector<Combination> all_combinations();

/// As a scenario's parameter is resolved. REQUIRES: there is no conflict in it.
Formats formats_of(Combination const& combination);

/// What an element of each kind takes. Units: bytes.
struct BytesOfElement {
  std::int64_t parameter = 0;
  std::int64_t gradient = 0;
  std::int64_t main = 0;
  std::int64_t cast_gradient = 0;
  std::int64_t exp_avg = 0;
  std::int64_t exp_avg_sq = 0;
};
BytesOfElement bytes_of_element(Formats const& formats);

/// Markdown: weights and gradients by themselves, then what each moment adds;
/// scenarios/PRECISION.md shows both.
std::string weights_table();
std::string moments_table();

}  // namespace adamant::scenarios
