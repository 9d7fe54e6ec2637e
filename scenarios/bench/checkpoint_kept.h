// Save and load of a state that is in host memory and stays there, beside what any program has to
// do.
#pragma once

#include <vector>

#include "real/engine.h"
#include "scenarios/bench/checkpoint_files.h"

namespace adamant::scenarios {

struct KeptWorld {
  std::vector<ParameterSpec> parameters;
  int ranks = 1;
};

/// Saves to `directory / "c"`, which stays. Errors: std::runtime_error, here and below.
CheckpointTurns measure_kept_save(KeptWorld const& world, BenchDirectory const& directory,
                                  int rounds);

/// Loads what is there.
CheckpointTurns measure_kept_load(KeptWorld const& world, BenchDirectory const& directory,
                                  int rounds);

/// Gigabytes of such a state a processor second whose CRC-32C is computed.
double measure_checksums(KeptWorld const& world, int rounds);

}  // namespace adamant::scenarios
