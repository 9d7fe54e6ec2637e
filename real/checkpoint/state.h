// What an engine hands to save and load: where its shards are, and how far it has come. It is the
// whole of what checkpoints know of an engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/checkpoint/manifest.h"
#include "real/shard/description.h"

namespace adamant::real {

/// Steps of a parameter as its optimizer counts them.
struct ParameterStep {
  std::string parameter;
  std::int64_t step = 0;
};

struct CheckpointState {
  std::vector<ShardDescription> tensors;  // keys as names.h makes them; the same order on all ranks
  Progress progress;
  std::vector<ParameterStep> steps;  // one a parameter, in registration order
  StepCounter counter = StepCounter::group;
};

}  // namespace adamant::real
