// Where the optimizer's states are while a program runs, as far as its text tells: on the device,
// away in host memory, or with the CPU for good. It knows nothing of crashes, after which the next
// load begins as this world did.
#pragma once

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

class StateLocation {
 public:
  /// Before the first operation.
  explicit StateLocation(Scenario const& scenario);

  /// Behind `action`; what a capture records has not happened.
  void follow(Action const& action);

  /// Off the device, from where `reload` brings them back.
  bool away() const { return away_; }
  /// States leave after each step.
  bool leave_after_step() const { return std::holds_alternative<OffloadedStates>(offload_); }
  /// The CPU keeps those of its part of the step.
  bool with_cpu() const { return std::holds_alternative<HybridOffload>(offload_); }

  /// As the last load left them.
  Offload const& offload() const { return offload_; }
  World const& world() const { return world_; }

 private:
  void follow_load(Load const& load);

  Offload offload_;
  World world_;
  bool away_;
};

/// `offload` and `reload`.
bool moves_states(Action const& action);

}  // namespace adamant::scenarios
