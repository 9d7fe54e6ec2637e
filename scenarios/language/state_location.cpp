#include "scenarios/language/state_location.h"

#include <utility>

#include "scenarios/language/operations.h"

namespace adamant::scenarios {

namespace {

bool steps(Action const& action) {
  return is<Step, Train, Replay>(action);
}

Scenario without_program(Scenario scenario) {
  scenario.program.clear();
  return scenario;
}

}  // namespace

StateLocation::StateLocation(Scenario const& scenario)
    : setting_(without_program(scenario)), away_(leave_after_step()) {}

void StateLocation::follow(Action const& action) {
  if (is<OffloadStates>(action)) away_ = true;
  if (is<ReloadStates>(action)) away_ = false;
  if (steps(action)) away_ = leave_after_step();
  if (auto const* load = std::get_if<Load>(&action)) follow_load(*load);
}

// In the world that is there a load leaves states where they are; a new one begins as any does.
void StateLocation::follow_load(Load const& load) {
  bool const anew = needs_new_world(setting_, load);
  setting_ = with(std::move(setting_), load);
  if (anew) away_ = leave_after_step();
}

bool moves_states(Action const& action) {
  return is<OffloadStates, ReloadStates>(action);
}

}  // namespace adamant::scenarios
