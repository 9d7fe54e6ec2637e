// What each script that shows a look says of it: its title, its verdict, and what is done to files
// before it. How requests are made is not known here.
#pragma once

#include <functional>
#include <string>

#include "scenarios/peers/script/python.h"
#include "scenarios/peers/script/session.h"
#include "scenarios/peers/script/session_look.h"

namespace adamant::scenarios::script {

/// What an engine says of itself, as it may stand in a docstring.
std::string without_quotes(std::string text);

/// What is wrong, as a sentence without its full stop.
std::string title_of(Look const& look);

/// Ends the script: with 1 where the defect shows, with 0 where it does not.
///
/// REQUIRES: `look` is not about a request.
void write_verdict_of_state(python::Code& code, Session const& session, Look const& look);

/// What a failure's reply has to contain, for it to be this one.
python::Literal words_of(Look const& look);

/// The same damage to files of checkpoints again. `path` gives the expression of a file's path,
/// `older` that of its copy in the save before, and `flip` the call that changes a bit.
struct DamageCalls {
  std::function<std::string(std::string const& file)> path;
  std::function<std::string(std::string const& file)> older;
  std::function<std::string(FileDamage const& damage)> flip;
};
void write_damage(python::Code& code, DamagedFiles const& damages, DamageCalls const& calls);

/// Errors: NoScript where nothing ran that could be shown.
void refuse_what_did_not_run(RunResult const& result, Violation const* violation);

}  // namespace adamant::scenarios::script
