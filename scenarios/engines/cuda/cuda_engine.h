// The engine on this machine's GPUs: a host thread for each rank. With fewer GPUs than ranks, all
// ranks share the first one and bring their own collectives. Accesses and orders go unjudged here;
// values, counters, addresses and the engine's own account of its memory are judged as in the
// simulator.
#pragma once

#include <string_view>

#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class CudaEngine final : public ScenarioEngine {
 public:
  std::string_view name() const override { return "cuda"; }
  Capabilities capabilities() const override { return capabilities_of_gpus(); }
  /// Errors: also MachineLacks where there is no GPU.
  EngineEnd execute(EngineTask const& task, Observer& observer) override;
};

}  // namespace adamant::scenarios
