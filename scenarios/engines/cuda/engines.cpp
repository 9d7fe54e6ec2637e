// The engine of a program that was linked with CUDA.
#include "scenarios/engines/cuda/cuda_engine.h"
#include "scenarios/engines/cuda/machine.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view name) {
  if (name == "cuda") return std::make_unique<CudaEngine>();
  if (is_peer(name)) return make_peer_engine(name);
  throw MachineLacks(
      "engine `" + std::string(name) +
      "`: this program has cuda, adapters and exec:COMMAND; sim-unchecked is in adamant");
}

bool engines_have_bugs() {
  return false;
}

EngineMachine machine_of_engine() {
  return {.found = found(machine_here()), .lacks = lacks(machine_here())};
}

// Who has no GPU can still ask what one would do.
Capabilities on_this_machine(Capabilities capabilities) {
  bool const on_gpus = capabilities.engine == capabilities_of_gpus().engine;
  if (on_gpus && lacks(machine_here()).empty())
    capabilities.captured_ranks_max = captured_ranks_max(machine_here());
  return capabilities;
}

std::string engine_here(std::string const& name) {
  return name == "sim" ? "cuda" : name;
}

}  // namespace adamant::scenarios
