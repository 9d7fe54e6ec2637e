// What a search found: of the failures that look alike, the first case with each set of
// ingredients. Minimising them, and telling which are one defect, is search/findings.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// What failures look alike by: the law with likeness_of the violation, or the two conflicting
/// operations and their buffer; a reason of refusal; how a process died. The laws about checkpoints
/// are one here: a load gets something wrong by one of them or another, as its faults have it.
std::string signature_of(RunResult const& result);

/// With which the signatures of these laws begin.
inline constexpr std::string_view checkpoint_signatures = "checkpoint|";
/// With which those begin that are about a save that failed, at once or while it was waited for,
/// and about a load that never answered: one rank fails, and the others wait for it.
inline constexpr std::array<std::string_view, 3> failed_file_signatures{
    "error.clean|failed|save ", "error.clean|failed|finish ", "order.deadlock|no_answer|load "};

/// What of a scenario one defect needs and another does not: the options of its engine, its kinds
/// of faults, in words.
std::set<std::string> ingredients_of(Scenario const& scenario);

struct Failure {
  std::uint64_t case_index = 0;
  RunResult result;
  std::set<std::string> ingredients = {};  // of its case
  /// Options of the engine that it ran with beside those of its case, around what is known of it.
  EngineOptions avoided = {};
};

/// The failures of a search, those with the fewest ingredients first and in the order of their
/// cases then, whatever the order in which they came.
class Failures {
 public:
  /// Is it the first that looks so and has these ingredients?
  bool add(Failure failure);
  std::vector<Failure> take() const;
  bool empty() const { return first_.empty(); }
  std::size_t size() const { return first_.size(); }

 private:
  std::map<std::pair<std::string, std::set<std::string>>, Failure> first_;  // and ingredients
};

/// `scenario` as it ran: with the seed, the engine and the recorded choices of `result`.
Scenario make_replay(Scenario scenario, RunResult const& result);

}  // namespace adamant::scenarios
