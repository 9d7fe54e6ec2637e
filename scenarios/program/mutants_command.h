// `adamant hunt --mutants`: does anything notice the mistakes that a machine made?
#pragma once

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {

/// Met: each mutant was noticed, or scenarios/bugs/MUTANTS.md says why it was not. Where this
/// program has none, the one beside it that does is called in its place with `argv`; lacking where
/// that was not built.
Status mutants_command(Arguments const& arguments, char const* const* argv);

}  // namespace adamant::scenarios
