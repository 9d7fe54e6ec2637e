// Pieces of tensors moved from one world's cuts to another's, in memory.
#pragma once

#include <vector>

#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

/// What 8 ranks have of GPT-2 124M with its moments to 2 ranks, over memcpy of the same pieces: by
/// one process, and by two at once, each with a rank. Errors: std::runtime_error.
std::vector<Row> measure_moving(int rounds);

}  // namespace adamant::scenarios
