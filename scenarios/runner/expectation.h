// Compares what a run came to with what its scenario expects.
#pragma once

#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// "pass", "violates order.race", "refused any".
std::string text_of(Expectation const& expectation);

/// A violation is met when any violation has the law (or one below it: "access" covers
/// "access.bounds"), a refusal when its reason is the expected one or below it, or any.
bool meets(RunResult const& result, Expectation const& expectation);

/// The same of a run that did not take place, and which nothing refused beforehand: could it be
/// met?
bool may_be_met(Expectation const& expectation);

}  // namespace adamant::scenarios
