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
  std::string room;  // all paths in requests begin with this directory, or in a second run with
  std::string second_room;
  std::string command;
  /// What this run showed, which is what the first did; nothing where the engine refused to load,
  /// or did not answer the last request.
  std::optional<Violation> violation;
  /// Of two runs: the first exchange of the second. The first run ends in front of it, behind the
  /// request after which it is compared.
  std::optional<std::size_t> second;
};

/// Runs the scenario in a process of the engine's own, which is gone when this returns.
///
/// REQUIRES: the engine is one outside the process, and `violation` is of a run of `scenario`; null
///           where that run was refused, or broke off.
/// A violation that is of a further run alone has a session of that one; where two runs differ both
/// are in it. Of a run that differs when it is repeated it is the first one, to be made twice.
///
/// Errors: NoScript where this run does not show the same.
Session record_session(Scenario const& scenario, RunResult const& result,
                       Violation const* violation);

}  // namespace adamant::scenarios::script
