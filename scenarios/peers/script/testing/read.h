// The scenarios of which tests write scripts, and what comes of them.
#pragma once

#include <string>

#include "scenarios/language/yaml/load.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/script/kinds.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

/// The scenario of these lines, with PyTorch or another as its engine.
inline Scenario read(std::string const& text, std::string const& engine = "torch") {
  return load_scenario_text(
      "adamant: 1\nname: test\nseed: 7\nengine: {name: " + engine + "}\n" + text, "test");
}

/// A run that broke off is an error, as commands report it.
inline RunResult result_of(Scenario const& scenario) {
  try {
    return run_scenario(scenario);
  } catch (PeerError const& error) {
    RunResult result;
    result.reason = error.what();
    return result;
  }
}

/// What there is of the first thing that broke.
inline WrittenScript script_of_run(Scenario const& scenario) {
  RunResult const result = result_of(scenario);
  Violation const* const first = result.violations.empty() ? nullptr : &result.violations.front();
  return write_any_script(scenario, result, first);
}

}  // namespace adamant::scenarios
