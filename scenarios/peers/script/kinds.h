// Which script there is of a finding: the first of those that one can be written of.
#pragma once

#include <cstddef>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

enum class ScriptKind { plain_torch, driven_class, session };

struct WrittenScript {
  ScriptKind kind = ScriptKind::plain_torch;
  std::string text = "";
};

/// May the scenario be run once more for it?
enum class RunsAgain { yes, no };

/// What commands call it.
char const* words_for(ScriptKind kind);

/// Of engine `torch` plain PyTorch, else a script that drives the engine's class where it has one,
/// else a recorded session.
///
/// REQUIRES: the engine is one outside the process, and the scenario has its seed.
/// Errors: NoScript with the reason of each.
WrittenScript write_any_script(Scenario const& scenario, RunResult const& result,
                               Violation const* violation, RunsAgain runs_again = RunsAgain::yes);

}  // namespace adamant::scenarios
