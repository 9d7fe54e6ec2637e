// A scenario and the violation of its run on a subclass of `adamant_torch.Engine` as one Python
// script, which imports the class and drives it by `adamant_torch.driving.Driver`: a program of
// calls that people can read and change, in a process that a debugger can enter.
#pragma once

#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Runs the scenario once more and writes down what was asked for. The script ends with 1 where the
/// defect shows, with 0 where it does not, and with 2 where the engine fails in another way.
///
/// REQUIRES: the engine is one outside the process, and the scenario has its seed. `violation` is
///           one of `result`; null where a load was refused, or the engine did not answer.
/// Errors: NoScript where the engine names no class, where that run does not fail alike, where no
///         call shows it, or where there are too many numbers.
std::string write_driver_script(Scenario const& scenario, RunResult const& result,
                                Violation const* violation);

}  // namespace adamant::scenarios
