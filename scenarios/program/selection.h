// Which of the scenarios that were read a call goes through, and in which order. It knows files and
// names, and runs nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/program/parse.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/report/output_file.h"

namespace adamant::scenarios {

/// What becomes of the files that a glob matches.
enum class Matching { kept, dropped };

/// Keeps or drops the files that `glob` (fnmatch(3), `*` stands for slashes too) matches whole: by
/// path, by the path's last part, or by the scenario's name.
void select(std::vector<ScenarioFile>& files, std::string const& glob, Matching matching);

/// Keeps those whose position is the shard's.
void keep_shard(std::vector<ScenarioFile>& files, Portion shard);

/// Which scenarios failed when they were last run, kept in a directory from call to call.
class LastFailures {
 public:
  static constexpr char const* file_name = "last-failures.json";

  /// Without a directory nothing is remembered. What an earlier call wrote is read; a file that
  /// says nothing sensible counts as none. Errors: CannotWrite, where nothing could be kept.
  explicit LastFailures(std::optional<std::filesystem::path> const& directory);

  /// Moves those that failed before the others; otherwise the order stays.
  void put_first(std::vector<ScenarioFile>& files) const;
  void note(std::filesystem::path const& file, bool met);

  /// Writes what is known now: of a scenario that did not run, what was known before. Once only.
  /// Errors: CannotWrite.
  void write();

 private:
  std::optional<OutputFile> file_;
  std::set<std::string> failed_;
};

}  // namespace adamant::scenarios
