// The scenarios that this call could run but this program or machine cannot: in a directory they
// are passed over, and reported so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/program/arguments.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/report/status.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// A directory may hold scenarios that no engine here can run; who names one wants to hear of it.
class PassedOver {
 public:
  explicit PassedOver(Arguments const& arguments) : arguments_(arguments) {}

  /// Takes scenarios with a bug out of `files`, where the engines have none. Who names such a file
  /// is told by its result.
  void take_bugs(std::vector<ScenarioFile>& files);

  /// Takes out what tells nothing of the engine that runs here in the place of theirs. Who names
  /// such a file, or the engine, is told by its result.
  void take_unfit(std::vector<ScenarioFile>& files);

  /// Takes those out whose engine this machine lacks, and says why. Where it is this program's own,
  /// or somebody names the engine or the file, this is `lacking`, else `met`.
  Status take_engines(std::vector<ScenarioFile>& files);

  /// All that were taken out, each with the reason.
  std::vector<Reported> const& results() const { return results_; }

 private:
  bool is_named(ScenarioFile const& file) const;
  std::optional<std::string> lack_of(ScenarioFile const& file) const;
  std::optional<std::string> unfitness_of(ScenarioFile const& file) const;
  void add(ScenarioFile const& file, std::string why);
  /// By reason: how many.
  void tell(std::map<std::string, int> const& passed) const;

  Arguments const& arguments_;
  std::vector<Reported> results_;
};

}  // namespace adamant::scenarios
