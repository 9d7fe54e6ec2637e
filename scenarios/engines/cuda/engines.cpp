// The engine of a program that was linked with CUDA.
#include "scenarios/engines/cuda/cuda_engine.h"
#include "scenarios/peers/client/peer_engine.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

std::unique_ptr<ScenarioEngine> make_scenario_engine(std::string_view name) {
  if (name == "cuda") return std::make_unique<CudaEngine>();
  if (is_peer(name)) return make_peer_engine(name);
  throw MachineLacks(
      "engine `" + std::string(name) +
      "`: this program has cuda, torch and exec:COMMAND; sim-unchecked is in adamant");
}

bool engines_have_bugs() {
  return false;
}

std::string engine_here(std::string const& name) {
  return name == "sim" ? "cuda" : name;
}

}  // namespace adamant::scenarios
