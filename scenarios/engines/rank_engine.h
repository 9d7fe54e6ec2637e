// One rank of an in-process world: its engine, the source of its gradients, and the primitives of a
// program performed on them. It knows neither the world around it nor the verdict.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "real/checkpoint/storage.h"

#include "scenarios/engines/door.h"
#include "scenarios/language/registry.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// Where a rank stands in its world.
struct RankPlace {
  int rank = 0;
  int world_size = 1;
  int device = 0;
  real::Workers* workers = nullptr;  // for the CPU's part of a hybrid step
};

/// What all ranks of a world share; made before the ranks start.
struct WorldParts {
  EngineDoor const& door;
  EngineTask const& task;
  Scenario setting;  // the scenario, or what a load made of it
  std::vector<AdamConfig> groups;
  Clip clip = {};  // the norm in force
  /// Is this the first world? In later ones parameters begin with values unlike any saved ones.
  bool first = true;
  /// The door to files of each rank.
  std::function<std::shared_ptr<real::Storage>(int rank)> storage;
  ncclUniqueId nccl_id = {};                         // without loop-back
  real::Rendezvous* rendezvous = nullptr;            // with loop-back
  std::shared_ptr<real::LoopbackExchange> exchange;  // with loop-back
};

class RankEngine {
 public:
  /// Makes the engine and writes the parameters that it begins with.
  RankEngine(WorldParts const& parts, RankPlace const& place);

  void perform(Primitive const& operation);

  real::Engine& engine() { return *engine_; }
  GeneratedGradients& gradients() { return *gradients_; }
  /// The engine's number of a parameter.
  int place_of(int parameter) const { return order_.place_of(parameter); }
  /// What the last load had to say beside its success.
  std::vector<std::string> const& notes() const { return notes_; }

 private:
  void write_parameters(WorldParts const& parts);
  void leave_out(std::span<Recorded const> operations);
  void begin_backwards(std::span<Recorded const> operations);
  void set(resolved::Set const& set);
  void load(resolved::Load const& load);
  void replay(resolved::Replay const& replay);

  EngineTask const& task_;
  std::vector<ParameterSpec> parameters_;  // by number, with the types that a load has led to
  RegisteredOrder order_;
  Registry registry_;
  // The engine calls its source and its storage, so they go first.
  std::unique_ptr<GeneratedGradients> gradients_;
  std::shared_ptr<real::Storage> storage_;
  std::unique_ptr<real::Engine> engine_;
  std::vector<std::string> notes_;
};

/// The buffers of an engine in the seam's words.
std::vector<NamedBuffer> named_buffers(real::Engine const& engine);
LiveBytes peaks_of(real::Engine const& engine, Purpose purpose);

}  // namespace adamant::scenarios
