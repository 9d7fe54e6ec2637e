// An engine's tensors and counters in the words of checkpoints, and back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/state.h"
#include "real/engine.h"
#include "real/step/adam_step.h"

namespace adamant::real {

/// What an engine's parts are called. Everything referred to outlives it.
struct EngineNames {
  std::span<ParameterSpec const> parameters;
  std::span<std::string const> groups;
  StepCounter counter = StepCounter::group;
};

/// Where a shard is now: on the device, in host memory, or in part on both.
using ShardOf = std::function<ShardView(int parameter, TensorKind kind)>;

CheckpointState describe_engine(EngineNames const& names, ShardOf const& shard_of,
                                AdamStep const& step);

/// Steps and settings as they were saved. REQUIRES: groups in the engine's order.
void restore_progress(EngineNames const& names, Progress const& progress, AdamStep& step);

}  // namespace adamant::real
