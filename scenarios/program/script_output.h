// The script that `run` and `minimize` write for a bug report, and the one beside each finding of
// `fuzz`, or in place of one a recorded session. What is in it is scenarios/peers/script's part.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/report/output_file.h"
#include "scenarios/report/status.h"
#include "scenarios/seam/result.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

/// Where a recorded session lies in place of a script.
std::filesystem::path session_in_place_of(std::filesystem::path const& script);

/// The file that --script names. Without it nothing happens.
class ScriptOutput {
 public:
  /// Errors: CannotWrite.
  explicit ScriptOutput(Arguments const& arguments);

  /// Writes the script that shows how `result` failed, or a session in place of it. Where there is
  /// neither the file stays as it was and a message says why: that is bad input, or nothing (`met`)
  /// where no law was broken.
  ///
  /// REQUIRES: the scenario has its seed.
  /// Errors: CannotWrite.
  Status write(Scenario const& scenario, RunResult const& result,
               std::optional<Symptom> const& symptom);

 private:
  std::filesystem::path path_;
  std::optional<OutputFile> file_;
};

/// The scripts of a search with an engine outside the process.
class FindingScripts {
 public:
  /// Writes `x.py` beside `x.yaml`, or a session in place of it, or says why there is neither; the
  /// same reason is said once. The scenario is run once more.
  ///
  /// Errors: CannotWrite.
  void write_beside(std::filesystem::path const& scenario_file, Scenario const& scenario,
                    RunResult const& result, Symptom const& symptom);

  /// Says, once, how to make a script of a finding for which a search has no time left.
  void leave_out(std::filesystem::path const& scenario_file, Scenario const& scenario);

 private:
  void say_once(std::string const& reason, std::filesystem::path const& scenario_file);

  std::set<std::string> said_;
};

}  // namespace adamant::scenarios
