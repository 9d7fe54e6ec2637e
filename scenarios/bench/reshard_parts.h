// What the suite `reshard` measures beside plans: what comes before one, and what follows it.
#pragma once

#include "scenarios/bench/rows.h"

namespace adamant::scenarios {

struct SavedWorld {
  int ranks = 1;    // each with a file
  int tensors = 1;  // each with rows on all ranks
};

/// What it takes to know, from the bytes of all headers of a checkpoint, where every tensor lies:
/// processor seconds of one rank that reads its headers and hears of all others', fitted: measured
/// are a few of the headers, and the runs of a few of the tensors, times as many as there are. How
/// the text comes from rank to rank is not in it.
double seconds_from_headers(SavedWorld const& world);

/// Adds what 8 ranks have of GPT-2 124M with its moments to 2 ranks, over memcpy of the same
/// pieces: by one process, and by two at once, each with a rank. Errors: std::runtime_error.
void measure_moving(SuiteRows& rows, int rounds);

}  // namespace adamant::scenarios
