// What there is of a finding for a bug report: the first of these that can be had.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

enum class ScriptKind { rendered, session };

struct WrittenScript {
  ScriptKind kind = ScriptKind::rendered;
  std::string text = "";
  std::string words = "";                   // what commands call it
  std::optional<std::string> numbers = {};  // of a file that has to lie beside a script
  std::string why_session = "";             // and nothing that Python runs
};

/// May a second file lie beside the script?
enum class LiesInFolder { yes, no };

/// The script that the engine's own side makes of a recorded session, else that session as a
/// document. The scenario is run once more for it.
///
/// REQUIRES: the scenario has its seed. `violation` is one of `result`; null where a load was
///           refused, or the engine did not answer.
/// Errors: NoScript with the reason, also where the engine is none outside the process.
WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation,
                               LiesInFolder lies_in_folder = LiesInFolder::yes);

}  // namespace adamant::scenarios
