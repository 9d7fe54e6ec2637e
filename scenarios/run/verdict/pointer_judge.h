// Watches where tensors live. Parameters never move, moments and main weights only where they leave
// the device and come back; a gradient stays where it is until zero_grad gives it back. Law:
// pointers.stable.
#pragma once

#include <optional>
#include <vector>

#include "scenarios/run/engine_seam.h"
#include "scenarios/run/verdict/findings.h"

namespace adamant::scenarios {

class PointerJudge {
 public:
  PointerJudge(std::vector<ParameterSpec> const& parameters, int ranks,
               std::optional<StateOffloadConfig> const& leaving, Findings& findings);

  /// Engines were made anew, so many of them.
  void begin_world(int ranks);

  /// After `operation`, or before the first one if it is null.
  void compare(WorldView const& world, Primitive const* operation);

 private:
  bool may_move(TensorKind kind, Primitive const& operation) const;

  std::vector<ParameterSpec> const& parameters_;
  std::optional<StateOffloadConfig> leaving_;  // states of which steps move something
  Findings& findings_;
  std::vector<void const*> addresses_;  // by rank, parameter, kind; null: none last time
};

}  // namespace adamant::scenarios
