// The engines of a program that was linked with the simulator.
#include "scenarios/engines/sim/sim_engine.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view name) {
  if (name == "sim") return std::make_unique<SimEngine>(SimEngine::Variant::checked);
  if (name == "sim-unchecked") return std::make_unique<SimEngine>(SimEngine::Variant::unchecked);
  if (is_peer(name)) return make_peer_engine(name);
  throw MachineLacks("engine `" + std::string(name) +
                     "`: this program has sim, sim-unchecked, adapters and exec:COMMAND; cuda is "
                     "in adamant-cuda");
}

bool engines_have_bugs() {
  return true;
}

EngineMachine machine_of_engine() {
  return {};
}

Capabilities on_this_machine(Capabilities capabilities) {
  return capabilities;
}

std::string engine_here(std::string const& name) {
  return name;
}

}  // namespace adamant::scenarios
