// Where the state of a world, as a session asks for it, has what a violation is about: a number of
// a rank's file, a counter, a setting.
#pragma once

#include "scenarios/peers/script/session_look.h"

namespace adamant::scenarios::script {

/// REQUIRES: the violation is about something that a state shows.
/// Errors: NoScript where none of the session's does.
Json look_at_state(Session const& session, Violation const& violation);

}  // namespace adamant::scenarios::script
