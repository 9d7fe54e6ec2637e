// What there is of a finding for a bug report: the first of these that can be had.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

enum class ScriptKind { plain_torch, driven_class, session };

struct WrittenScript {
  ScriptKind kind = ScriptKind::plain_torch;
  std::string text = "";
  std::optional<std::string> numbers = {};  // of a file that has to lie beside a script
  std::string why_session = "";             // and nothing that Python runs
};

/// May the scenario be run once more for it?
enum class RunsAgain { yes, no };
/// May a second file lie beside the script?
enum class LiesInFolder { yes, no };

/// What commands call a script.
char const* words_for(ScriptKind kind);

/// Of engine `torch` plain PyTorch, else the script that an engine's own side makes of a recorded
/// session, else that session as a document.
///
/// REQUIRES: the engine is one outside the process, and the scenario has its seed. `violation` is
///           one of `result`; null where a load was refused, or the engine did not answer.
/// Errors: NoScript with the reason of each.
WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, RunsAgain runs_again = RunsAgain::yes,
                               LiesInFolder lies_in_folder = LiesInFolder::yes);

}  // namespace adamant::scenarios
