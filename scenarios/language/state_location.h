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
  bool leave_after_step() const {
    return std::holds_alternative<OffloadedStates>(setting_.offload);
  }
  /// The CPU keeps those of its part of the step.
  bool with_cpu() const { return std::holds_alternative<HybridOffload>(setting_.offload); }

  /// As the last load left them.
  Offload const& offload() const { return setting_.offload; }
  World const& world() const { return setting_.world; }
  Layout layout() const { return setting_.layout; }

 private:
  void follow_load(Load const& load);

  Scenario setting_;  // without its program
  bool away_;
};

/// `offload` and `reload`.
bool moves_states(Action const& action);

}  // namespace adamant::scenarios
