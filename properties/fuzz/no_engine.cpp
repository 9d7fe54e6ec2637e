// The engines of a program that reads, and runs nothing.
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view name) {
  throw MachineLacks("engine `" + std::string(name) + "`: this program has none");
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
