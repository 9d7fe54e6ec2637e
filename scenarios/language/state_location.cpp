#include "scenarios/language/state_location.h"

namespace adamant::scenarios {

namespace {

bool steps(Action const& action) {
  return std::holds_alternative<Step>(action) || std::holds_alternative<Train>(action) ||
         std::holds_alternative<Replay>(action);
}

}  // namespace

StateLocation::StateLocation(Scenario const& scenario)
    : offload_(scenario.offload), world_(scenario.world), away_(leave_after_step()) {}

void StateLocation::follow(Action const& action) {
  if (std::holds_alternative<OffloadStates>(action)) away_ = true;
  if (std::holds_alternative<ReloadStates>(action)) away_ = false;
  if (steps(action)) away_ = leave_after_step();
  if (auto const* load = std::get_if<Load>(&action)) follow_load(*load);
}

// In the world that is there a load leaves states where they are; a new one begins as any does.
void StateLocation::follow_load(Load const& load) {
  World const world = load.world.value_or(world_);
  Offload const offload = load.offload.value_or(offload_);
  bool const anew = world != world_ || offload != offload_;
  world_ = world;
  offload_ = offload;
  if (anew) away_ = leave_after_step();
}

bool moves_states(Action const& action) {
  return std::holds_alternative<OffloadStates>(action) ||
         std::holds_alternative<ReloadStates>(action);
}

}  // namespace adamant::scenarios
