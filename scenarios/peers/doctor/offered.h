// Small scenarios within what an engine offers: the first word of each of its lists, unless the
// plan of a scenario says otherwise. It knows nothing of running them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

/// What one scenario is to have, in the words of YAML's flow style where it is text.
struct ProbePlan {
  std::string name = {};
  std::string program = {};  // "[train: 2, check]"
  int shard = 2;
  int replicate = 1;
  std::string worlds = {};        // in the place of both: "[2, 1]"
  std::int64_t microbatches = 0;  // 0: one per rank
  std::string optimizer = {};     // more of it: "clip: 1.0"; wins over what is offered first
  std::string more = {};          // further top-level lines
  std::string precision = {};     // "" for the first that is offered
  std::string params = {};        // "" for some that are cut in all ways
  std::vector<std::pair<std::string, std::string>> options = {};  // beside the defaults
};

/// The scenario; unless the plan has others, on parameters that are cut evenly, unevenly and not at
/// all, in two groups.
///
/// Errors: LoadError where the plan is no scenario.
Scenario scenario_of(ProbePlan const& plan, Capabilities const& offered, std::string const& engine);

/// The first of every list of an offer; and the same as `{param: fp32, …}`.
Precision first_of(PrecisionOffer const& offer);
std::string first_precision(PrecisionOffer const& offer);

/// Two parameters of which each recipe takes the first, so that it is cut over ranks, and none the
/// second.
extern char const* const params_of_recipes;

}  // namespace adamant::scenarios
