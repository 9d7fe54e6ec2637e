// What a search found, one entry per distinct failure: the first case that showed it. It also turns
// an entry into a scenario file that repeats it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenarios/model/scenario.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// What makes two failures one defect: the law with the kind of tensor or the two conflicting
/// operations; a reason of refusal; how a process died.
std::string signature_of(RunResult const& result);

/// The word that names the failure's file: its law, its reason, or "error".
std::string file_stem_of(RunResult const& result);

struct Failure {
  std::uint64_t case_index = 0;
  RunResult result;
};

/// The failures of a search, in the order of their cases whatever the order in which they came.
class Failures {
 public:
  void add(std::uint64_t case_index, RunResult result);
  std::vector<Failure> take() const;
  bool empty() const { return first_.empty(); }
  std::size_t size() const { return first_.size(); }

 private:
  std::map<std::string, Failure> first_;  // by signature
};

/// `scenario` with seed and recorded choices fixed and the failure as its expectation, so that
/// running it repeats the failure and ends with 0. A death has no expectation and stays a failure.
Scenario make_replay(Scenario scenario, RunResult const& result);

/// Writes the scenario as `<stem>.yaml`, or `<stem>-2.yaml`, … where another one has the name
/// already. Makes the directory.
///
/// Errors: CannotWrite.
std::filesystem::path write_failure(std::filesystem::path const& directory, std::string const& stem,
                                    Scenario const& scenario);

}  // namespace adamant::scenarios
