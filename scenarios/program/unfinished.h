// What a search has found and not minimised yet: told at once, and kept in files, so that whatever
// ends the search loses nothing.
#pragma once

#include <filesystem>
#include <vector>

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"
#include "scenarios/search/failures.h"

namespace adamant::scenarios {

class Unfinished {
 public:
  explicit Unfinished(Arguments const& arguments);

  /// Says on the standard error that the case failed, and where files are wanted writes it into the
  /// folder `unfinished` among them. Where they cannot be written that is said once, and bad input.
  Status add(Failure const& failure, Scenario const& scenario);

  /// All is minimised and written: takes its files away.
  void end();

 private:
  std::filesystem::path written(Failure const& failure, Scenario const& scenario);

  bool quiet_;
  std::filesystem::path folder_;  // empty: no files
  std::vector<std::filesystem::path> files_;
};

}  // namespace adamant::scenarios
