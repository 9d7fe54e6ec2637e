// A minimised scenario as a file: it says what it breaks, expects that, and reads back as a
// scenario. Nothing in it says where the scenario was found, so that one defect gives one file.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/report/provenance.h"
#include "scenarios/seam/result.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

/// The word that a file of this symptom is named by: the bug that was switched on, or the law.
std::string stem_of(Scenario const& scenario, Symptom const& symptom);

/// `scenario` with the symptom as its expectation and in its name, where the violation tells it
/// from others of its law. A process that died cannot be expected: such a scenario expects to pass.
Scenario expecting(Scenario scenario, Symptom const& symptom, Violation const* violation = nullptr);

/// The option by which the engine of the scenario's file runs, where that is a command.
std::string named_command(Scenario const& scenario);

/// The engine's name, with its versions where it gives any: "torch (python 3.11.2, torch 2.13.0)".
/// Where they are not known it is asked.
///
/// Errors: MachineLacks, where an engine that has to be asked is not there.
std::string with_versions(std::string const& engine, std::optional<std::string> const& known = {});

/// What a run of `scenario` by this program depends on. The scenario is as its file says it, apart
/// from what a command line put in the place of that.
///
/// Errors: MachineLacks, where an engine that has to be asked is not there.
Provenance provenance_of(Scenario const& scenario, RunResult const& result, Writer const& writer,
                         std::optional<std::string> const& versions = {});

/// The file: comments with the violation (both values, or both accesses and the missing edge), who
/// wrote it and the line that replays it, then the scenario's normal form. `file_name` is what the
/// file will be called, without its folder.
///
/// REQUIRES: `result` is of a run of `scenario`, which is expecting(…, symptom).
/// Errors: MachineLacks, as provenance_of().
std::string write_document(Scenario const& scenario, RunResult const& result,
                           Symptom const& symptom, std::string const& file_name,
                           Writer const& writer, std::optional<std::string> const& versions = {});

}  // namespace adamant::scenarios
