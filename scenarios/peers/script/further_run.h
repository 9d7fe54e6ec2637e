// Which of a scenario's runs a violation is of, as scenarios without further runs.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/further_runs.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios::script {

/// The scenario's own run.
Scenario own_run(Scenario scenario);

/// The further run that is called so in violations (`Violation::run`); empty: nothing, it is the
/// scenario's own.
///
/// Errors: NoScript where the scenario has none of that name.
std::optional<FurtherRun> further_run_called(Scenario const& scenario, std::string const& text);

/// The further run that was refused while it ran; nothing where the scenario's own was.
std::optional<FurtherRun> further_run_refused(Scenario const& scenario, RunResult const& result);

/// The number of an entry of the scenario's program in that of the run. Of the one before entries
/// that only the run has it is the last of them: what they come to is told as of that entry.
int entry_in(FurtherRun const& run, int entry);

}  // namespace adamant::scenarios::script
