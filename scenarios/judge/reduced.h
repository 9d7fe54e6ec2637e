// What a backward may leave in a gradient, from what every rank brought in: one value where all
// sums are exact, otherwise what any order of summation gives, also where a 16-bit engine divides
// before it sums. It knows no world and no older gradient.
#pragma once

#include <vector>

#include "oracle/interval/admissible.h"
#include "oracle/types.h"

namespace adamant::scenarios {

/// One parameter's gradients before reduction, of whatever is summed: ranks or microbatches.
struct Unreduced {
  std::vector<std::vector<float>> inputs;  // numbers of `format`, each of the whole parameter
  NumberFormat format = NumberFormat::fp32;
  int divisor = 1;
  bool exact = false;  // every partial sum is a number of the format
};

/// By element, in the format of the sums.
std::vector<oracle::Admissible> reduced_bounds(Unreduced const& unreduced);

}  // namespace adamant::scenarios
