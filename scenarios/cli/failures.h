// What a search found: of the failures that look alike, the first case with each choice of the
// engine's options. Reducing them, and telling which are one defect, is cli/findings.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/model/scenario.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// What failures look alike by: the law with the kind of tensor and what is said of it, or the two
/// conflicting operations; a reason of refusal; how a process died.
std::string signature_of(RunResult const& result);

using EngineOptions = decltype(EngineChoice::options);

struct Failure {
  std::uint64_t case_index = 0;
  RunResult result;
  EngineOptions options = {};  // of its case
};

/// The failures of a search, in the order of their cases whatever the order in which they came.
class Failures {
 public:
  void add(Failure failure);
  std::vector<Failure> take() const;
  bool empty() const { return first_.empty(); }
  std::size_t size() const { return first_.size(); }

 private:
  std::map<std::pair<std::string, EngineOptions>, Failure> first_;  // by signature and options
};

/// `scenario` as it ran: with the seed, the engine and the recorded choices of `result`.
Scenario make_replay(Scenario scenario, RunResult const& result);

}  // namespace adamant::scenarios
