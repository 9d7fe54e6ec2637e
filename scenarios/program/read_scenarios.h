// The files of a command line as scenarios, all of them before anything runs. A file that cannot be
// read is kept with what is wrong with it, so that one call shows every mistake.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/report/provenance.h"
#include "scenarios/runner/admission.h"

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

/// Why the scenario's engine refuses what `file` says, unless that is expected; it is said with its
/// line. What this machine has no memory for is a result of running here, although it is known
/// before.
///
/// Errors: MachineLacks.
std::optional<Refusal> refuse_file(std::filesystem::path const& file, Scenario const& scenario);

/// Files come from anybody, and a command is whatever its author wants to do here. Why the engine
/// that `file` names may not run, as `file:line: key: message`; empty where it is no command, where
/// this call names the same one or another engine, or trusts its files. A dry run runs none.
std::string distrust(Arguments const& arguments, std::filesystem::path const& file,
                     Scenario const& scenario);

/// The one scenario that a command is about, with what its command line replaces.
struct OneScenario {
  std::string name;  // of its file, as it was found
  Scenario scenario;
};

/// It has a seed, which is drawn where nobody gave one. Nothing where it cannot be read, is refused
/// as it stands, or is one of several; that is said.
///
/// Errors: MachineLacks.
std::optional<OneScenario> read_one_scenario(Arguments const& arguments);

}  // namespace adamant::scenarios
