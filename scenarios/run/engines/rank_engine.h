// One rank of an in-process world: its engine, the source of its gradients, and the primitives of a
// program performed on them. It knows neither the world around it nor the verdict.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "scenarios/run/engine_seam.h"
#include "scenarios/run/engines/door.h"

namespace adamant::scenarios {

/// Where a rank stands in its world.
struct RankPlace {
  int rank = 0;
  int world_size = 1;
  int device = 0;
  real::Workers* workers = nullptr;  // for the CPU's part of a hybrid step
};

/// What all ranks of an execution share; made before the ranks start.
struct WorldParts {
  EngineDoor const& door;
  EngineTask const& task;
  std::vector<AdamConfig> groups;
  ncclUniqueId nccl_id = {};                         // without loop-back
  real::Rendezvous* rendezvous = nullptr;            // with loop-back
  std::shared_ptr<real::LoopbackExchange> exchange;  // with loop-back
};

class RankEngine {
 public:
  /// Makes the engine and writes the initial parameters.
  RankEngine(WorldParts const& parts, RankPlace const& place);

  void perform(Primitive const& operation);

  real::Engine& engine() { return *engine_; }
  GeneratedGradients& gradients() { return *gradients_; }

 private:
  // The engine calls its source, so it goes first.
  std::unique_ptr<GeneratedGradients> gradients_;
  std::unique_ptr<real::Engine> engine_;
};

/// The buffers of an engine in the seam's words.
std::vector<NamedBuffer> named_buffers(real::Engine const& engine);

/// A shard without its bytes.
Shard described(real::ShardView const& view);

/// A shard of an engine whose memory this process can read; in `room` where it lies in two places.
Shard shard_of(real::Engine const& engine, int parameter, TensorKind kind,
               std::vector<std::byte>& room);

}  // namespace adamant::scenarios
