// From a scenario file to a Scenario: reads the YAML, checks every key, type, range and name, and
// says in file, line and key what is wrong. Nothing is executed, and nothing is judged that needs
// an engine (seam/refusals.h does that).
#pragma once

#include <filesystem>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

/// A scenario that cannot be read. what() is one line or several, each `file:line: key: message`.
struct LoadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct LoadOptions {
  /// Where `params: {model: NAME}` finds NAME.yaml; empty: default_models_directory().
  std::filesystem::path models_directory;
  /// Where a `load` finds checkpoints that the program did not save; empty: nowhere.
  std::filesystem::path checkpoints_directory;
};

/// The lists of public models: beside the program where it is installed, else in the source tree.
std::filesystem::path default_models_directory();

/// Reads one scenario from memory; `file_name` is only for messages.
///
/// Units:  at most 8 MiB, 200,000 nodes (an alias counts as what it stands for), 64 levels.
/// Errors: LoadError for whatever is not a scenario of format version 1.
Scenario load_scenario_text(std::string_view text, std::string_view file_name,
                            LoadOptions const& options = {});

/// The text of a file or a stream, of which little more is read than a scenario may have.
///
/// Errors: LoadError where the file cannot be read.
std::string read_scenario_text(std::filesystem::path const& path);
std::string read_scenario_text(std::istream& in);

/// Reads one scenario file; checkpoints are looked for beside it unless `options` says otherwise.
///
/// Errors: as load_scenario_text, and LoadError where the file cannot be read.
Scenario load_scenario_file(std::filesystem::path const& path, LoadOptions options = {});

/// False where the file is readable YAML whose top level lacks the key `adamant`: such files belong
/// to something else. True for scenarios, and for files that are broken and deserve their message.
bool is_scenario(std::filesystem::path const& path);

/// The scenario files at `path`: itself where it is a file, or every *.yaml and *.yml below it that
/// is_scenario(), sorted by path.
///
/// Errors: LoadError where `path` does not exist, cannot be read or contains no scenario.
std::vector<std::filesystem::path> find_scenarios(std::filesystem::path const& path);

}  // namespace adamant::scenarios
