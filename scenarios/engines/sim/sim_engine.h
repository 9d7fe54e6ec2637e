// The engine in a simulated world: every rank a fiber, every device the simulator's, judged by it
// access by access (checked) or not (unchecked).
#pragma once

#include <string_view>

#include "scenarios/engines/door.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class SimEngine final : public ScenarioEngine {
 public:
  enum class Variant { checked, unchecked };
  explicit SimEngine(Variant variant) : variant_(variant) {}

  std::string_view name() const override;
  Capabilities capabilities() const override;
  EngineEnd execute(EngineTask const& task, Observer& observer) override;

 private:
  Variant variant_;
};

}  // namespace adamant::scenarios
