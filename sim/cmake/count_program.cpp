#include "sim/cmake/count_program.h"

/// Compiled several times, under several names.
extern "C" float ADAMANT_VARIANT(float* values, std::vector<int> const* order) {
  return adamant::sim::shuffle_and_sum(values, *order);
}
