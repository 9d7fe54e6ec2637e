// What an engine promises of two runs, put to the test: a small scenario with a further run for
// each promise of its hello, and for nothing else.
#pragma once

#include <string>
#include <vector>

#include "scenarios/peers/doctor/offered.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

/// One for each of `promises`, of `options` one for each value of each of `same_options`.
std::vector<ProbePlan> promise_plans(Capabilities const& offered);

/// What an engine leaves out of its hello that cannot keep what a violation shows broken. Empty
/// where that is no promise of two runs.
std::string way_to_withdraw(Violation const& violation, ProbePlan const& plan);

}  // namespace adamant::scenarios
