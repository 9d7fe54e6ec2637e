// The files of a command line as scenarios, all of them before anything runs. What is wrong is
// collected, so that one call shows every mistake.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

struct ScenarioFile {
  std::filesystem::path path;
  Scenario scenario;
};

struct ReadScenarios {
  std::vector<ScenarioFile> files;  // in the order of the paths; each file once
  std::vector<std::string> errors;  // `file:line: key: message`; not empty: run nothing
};

/// Stops early, with what it has, at an interrupt.
ReadScenarios read_scenarios(std::span<std::filesystem::path const> paths);

}  // namespace adamant::scenarios
