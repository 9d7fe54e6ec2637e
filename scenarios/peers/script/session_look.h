// What shows the violation of a session, as values: behind which requests somebody has to look, at
// what, and what has to be there. How replies are asked for and read is not known here.
#pragma once

#include "scenarios/peers/script/expected.h"
#include "scenarios/peers/script/session.h"

namespace adamant::scenarios::script {

/// `shows` of a recorded session, as its README says it. Its `request` is the number of the
/// exchange that shows the violation.
///
/// Errors: NoScript where no reply shows it.
Json look_of(Session const& session);

}  // namespace adamant::scenarios::script
