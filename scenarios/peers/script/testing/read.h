// The scenarios of which tests write scripts.
#pragma once

#include <string>

#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

/// The scenario of these lines, with PyTorch or another as its engine.
inline Scenario read(std::string const& text, std::string const& engine = "torch") {
  return load_scenario_text(
      "adamant: 1\nname: test\nseed: 7\nengine: {name: " + engine + "}\n" + text, "test");
}

}  // namespace adamant::scenarios
