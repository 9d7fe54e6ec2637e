// A scenario and the violation of its run as one Python script: torch and the standard library
// alone, to paste into a bug report. It prints what was expected and what came, and ends with 1
// where the defect shows and with 0 where it does not.
//
// It knows what PyTorch's calls are called. It runs nothing and knows no engine.
#pragma once

#include <string>

#include "scenarios/model/scenario.h"
#include "scenarios/run/result.h"
#include "scenarios/script/no_script.h"

namespace adamant::scenarios {

/// Lines that a script may have, for people to read it.
inline constexpr std::size_t script_lines_max = 80;
/// What the function that counts file operations and kills a rank takes beside them.
inline constexpr std::size_t script_lines_of_death = 40;

/// The script. What the violation names is compared with what the oracle expected of it.
///
/// REQUIRES: `violation` is of a run of `scenario`, which has its seed.
/// Errors: NoScript where the scenario is for another engine than torch, is too large (minimise it
///         first), or has or breaks what no call of PyTorch shows.
std::string write_script(Scenario const& scenario, ViolationReport const& violation);

}  // namespace adamant::scenarios
