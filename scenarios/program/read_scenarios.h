// The files of a command line as scenarios, all of them before anything runs. A file that cannot be
// read is kept with what is wrong with it, so that one call shows every mistake.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/report/provenance.h"

namespace adamant::scenarios {

struct ScenarioFile {
  std::filesystem::path path;  // "-" is the standard input
  Scenario scenario = {};
  std::optional<Provenance> written = {};  // by this program, and then it says so
  std::string error =
      {};  // `file:line: key: message`, lines of it; not empty: there is no scenario

  bool is_read() const { return error.empty(); }
};

/// Where a scenario's checkpoints are that it loads without having saved them.
std::filesystem::path folder_of(std::filesystem::path const& file);

/// The name of the adapter in whose folder a file lies: of the nearest folder above it that has a
/// Python package adamant_NAME that can be started. Empty where there is none.
std::string adapter_around(std::filesystem::path const& file);

/// In the order of the paths, each file once. A path that does not exist, or a directory without
/// scenarios, is a file that cannot be read. Stops early, with what it has, at an interrupt.
std::vector<ScenarioFile> read_scenarios(std::span<std::filesystem::path const> paths);

}  // namespace adamant::scenarios
