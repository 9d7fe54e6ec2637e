// A scenario and the violation of its run on an engine outside the process as one Python script:
// the requests of the run, in their order, to the same engine. It needs the standard library alone
// and knows the protocol, not what the engine is made of.
#pragma once

#include <cstddef>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Runs the scenario once more and writes down what was said. The script ends with 1 where the
/// defect shows, with 0 where it does not, and with 2 where anything else fails.
///
/// REQUIRES: the engine is one outside the process, and the scenario has its seed. `violation` is
///           one of `result`; null where a load was refused, or the engine did not answer.
/// Errors: NoScript where that run does not fail alike, where no reply shows it, or where there are
///         too many numbers.
std::string write_session_script(Scenario const& scenario, RunResult const& result,
                                 Violation const* violation);

}  // namespace adamant::scenarios
