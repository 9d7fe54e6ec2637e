// A run of a scenario once more, as its engine saw it: all requests up to the one that shows a
// violation, with the numbers that they hand over and what was done to files in between.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/peers/client/recording.h"
#include "scenarios/peers/script/no_script.h"
#include "scenarios/seam/damage.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios::script {

struct Session {
  Conversation exchanges;  // hello is the first; ends where the violation is seen, or before
  std::map<std::size_t, DamagedFiles> damage;  // before the exchange of that number
  std::string room;                            // all paths in requests begin with this directory
  std::string command;
  /// What this run showed, which is what the first did; nothing where the engine refused to load,
  /// or did not answer the last request.
  std::optional<Violation> violation;
  std::vector<Violation> all;  // of its law, of its operation
};

/// Runs the scenario in a process of the engine's own, which is gone when this returns.
///
/// REQUIRES: the engine is one outside the process, and `violation` is of a run of `scenario`; null
///           where that run was refused, or broke off.
/// Errors: NoScript where this run does not show the same.
Session record_session(Scenario const& scenario, RunResult const& result,
                       Violation const* violation);

}  // namespace adamant::scenarios::script
