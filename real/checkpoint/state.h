// What an engine hands to save and load: where its shards are, and how far it has come. It is the
// whole of what checkpoints know of an engine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/types.h"
#include "real/checkpoint/manifest.h"
#include "real/quantise/quantised_parameters.h"
#include "real/shard/description.h"

namespace adamant::real {

/// Steps of a parameter as its optimizer counts them, and under which names it is saved.
struct ParameterStep {
  std::string parameter;
  std::int64_t step = 0;
  std::vector<std::string> parts = {};  // ParameterSpec::parts
};

/// A tensor that checkpoints keep, in the type in which the engine has it.
struct StateTensor {
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  ShardDescription shard;  // its key is one of names.h
  /// Where `shard` has remainders: the parameter, whose bits are the upper halves.
  std::optional<ShardDescription> upper = {};
  /// Where `shard` has the parameter of a remainder: no number of its own, but the weight's half.
  bool is_upper = false;
  StateScale coverage = StateScale::global;  // of a scale, where the type has one
  float const* scale = nullptr;              // one number on the device; null for 1
  /// Of a quantised parameter: then `shard` has no data, and values are fp32.
  std::optional<QuantisedView> quantised = {};

  bool scaled() const { return has_scale(kind, shard.format); }
};

struct CheckpointState {
  std::vector<StateTensor> tensors;  // those of a parameter together; the same order on all ranks
  /// Replaces what a quantised parameter has beside its codes.
  std::function<void(int parameter, QuantisedScales const& scales)> write_scales;
  /// Replaces the scale of a state; called for every rank's own, elements or not.
  std::function<void(int parameter, TensorKind kind, float scale)> write_scale;
  Progress progress;
  std::vector<ParameterStep> steps;  // one a parameter, in registration order
  StepCounter counter = StepCounter::group;
};

}  // namespace adamant::real
