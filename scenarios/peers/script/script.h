// A scenario and the violation of its run as one Python script: torch and the standard library
// alone, to paste into a bug report. It prints what was expected and what came, and ends with 1
// where the defect shows and with 0 where it does not.
//
// It knows what PyTorch's calls are called. It runs nothing and knows no engine.
#pragma once

#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/length.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// The script. What the violation names is compared with what the oracle expected of it.
///
/// REQUIRES: `violation` is of a run of `scenario`, which has its seed.
/// Errors: NoScript where the scenario is for another engine than torch, has too many numbers or
///         lines (minimise it first), or has or breaks what no call of PyTorch shows.
std::string write_script(Scenario const& scenario, Violation const& violation);

/// The script of whatever a run came to that it should not have: `violation`, one of its own, or
/// where that is null a load that was refused.
///
/// Errors: NoScript, also where nothing ran, or where the engine did not keep to its protocol.
std::string write_script(Scenario const& scenario, RunResult const& result,
                         Violation const* violation);

}  // namespace adamant::scenarios
