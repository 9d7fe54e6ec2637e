// What it takes to know, from the bytes of all headers of a checkpoint, where every tensor lies:
// what comes before a plan in the suite `reshard`.
#pragma once

namespace adamant::scenarios {

struct SavedWorld {
  int ranks = 1;    // each with a file
  int tensors = 1;  // each with rows on all ranks
};

/// Processor seconds of one rank that reads its headers and hears of all others', fitted: measured
/// are a few of the headers, and the runs of a few of the tensors, times as many as there are. How
/// the text comes from rank to rank is not in it.
double seconds_from_headers(SavedWorld const& world);

}  // namespace adamant::scenarios
