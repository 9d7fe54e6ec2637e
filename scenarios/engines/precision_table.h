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

/// Every one, those that are refused too.
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
/// Of a quantised parameter its codes alone, which may be less than a byte: 0 then.
BytesOfElement bytes_of_element(Formats const& formats);

/// A matrix that every recipe takes, and what it costs under one. Units: bytes of all of it.
inline constexpr std::int64_t recipe_side = 128;
struct BytesOfRecipe {
  std::int64_t gathered = 0;  // codes, and the scales that travel with them
  std::int64_t scales = 0;    // what every rank keeps of them otherwise, and to make new ones
  std::int64_t read = 0;      // of main weights, after each step
  std::int64_t written = 0;   // codes
};
BytesOfRecipe bytes_of_recipe(Recipe recipe);

/// Markdown: weights and gradients by themselves, what recipes cost beside them, and what each
/// moment adds; scenarios/PRECISION.md shows all three.
std::string weights_table();
std::string recipes_table();
std::string moments_table();

}  // namespace adamant::scenarios
