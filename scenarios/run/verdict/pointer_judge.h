// Watches where tensors live. Parameters and moments never move; a gradient stays where it is until
// zero_grad gives it back. Law: pointers.stable.
#pragma once

#include <vector>

#include "scenarios/run/engine_seam.h"
#include "scenarios/run/verdict/findings.h"

namespace adamant::scenarios {

class PointerJudge {
 public:
  PointerJudge(std::vector<ParameterSpec> const& parameters, int ranks, Findings& findings);

  /// After `operation`, or before the first one if it is null.
  void compare(WorldView const& world, Primitive const* operation);

 private:
  std::vector<ParameterSpec> const& parameters_;
  Findings& findings_;
  std::vector<void const*> addresses_;  // by rank, parameter, kind; null: none last time
};

}  // namespace adamant::scenarios
