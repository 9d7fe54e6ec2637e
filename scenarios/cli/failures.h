// What a search found, one entry per distinct failure: the first case that showed it.
// Reducing it is cli/findings.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scenarios/model/scenario.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// What makes two failures one defect: the law with the kind of tensor and what is said of it, or
/// the two conflicting operations; a reason of refusal; how a process died.
std::string signature_of(RunResult const& result);

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

/// `scenario` as it ran: with the seed, the engine and the recorded choices of `result`.
Scenario make_replay(Scenario scenario, RunResult const& result);

}  // namespace adamant::scenarios
