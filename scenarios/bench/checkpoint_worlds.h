// Worlds that have the state of GPT-2 124M, to be saved and loaded again and again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scenarios/bench/checkpoint_roof.h"
#include "scenarios/bench/engine_parts.h"
#include "scenarios/bench/state_parts.h"

namespace adamant::scenarios {

class CheckpointWorld {
 public:
  virtual ~CheckpointWorld() = default;
  /// Calls body(state, first) on every rank, while the world stands.
  virtual void run(std::function<void(KeptState& state, bool first)> const& body) = 0;

  // What holds state, rank after rank; while the world stands.
  virtual Memory memory() = 0;
  virtual std::vector<StatePart> parts() = 0;
};

// REQUIRES of both: the parameters outlive the world.

/// In host memory, where the state stays: no device takes part.
std::unique_ptr<CheckpointWorld> make_kept_world(std::span<ParameterSpec const> parameters,
                                                 int ranks);
/// In whole engines on simulated devices.
std::unique_ptr<CheckpointWorld> make_world_of_devices(std::span<ParameterSpec const> parameters,
                                                       int ranks);

}  // namespace adamant::scenarios
