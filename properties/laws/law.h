// What all laws share: the form of a law, how RapidCheck prints the scenarios it is given, and the
// test that a law can fail. Each law itself is a file beside this one.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "properties/laws/execution.h"
#include "scenarios/language/scenario.h"
#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {

/// Found by RapidCheck: a counterexample is printed as the YAML that replays it.
void showValue(Scenario const& scenario, std::ostream& out);

}  // namespace adamant::scenarios

namespace adamant::properties {

/// Holds `scenario` to one law while the engine makes the mistake `bug` ("" for none): what was
/// found, or no_difference.
using Law = std::function<std::string(scenarios::Scenario const& scenario, std::string bug)>;

/// Fails the running test unless, among the first few hundred generated scenarios, there is one for
/// which the law is broken with the bug and holds without it.
void expect_caught(Law const& law, std::string const& bug,
                   scenarios::GenerateOptions const& options = {});

/// Adds an operation to the end of the program.
void add(scenarios::Scenario& scenario, scenarios::Action action);

/// Labels of the corners that a case covers, for RapidCheck's table of what it has seen.
void classify(scenarios::Scenario const& scenario);

/// Options that leave out checkpoints, and with them everything that goes on in another world.
scenarios::GenerateOptions one_world();

/// Options that leave out gradients, and loss scales, with which a sum depends on the order in
/// which its terms are added.
scenarios::GenerateOptions exact_gradients();

/// The same without scales of states that each shard has for itself: for laws that compare worlds.
scenarios::GenerateOptions exact_in_any_world();

/// The same without what couples parameters: a global norm, and steps that one of them has skipped.
scenarios::GenerateOptions uncoupled_parameters();

/// Exact gradients without graphs, beside which a save is refused: such scenarios can go on with
/// one.
scenarios::GenerateOptions exact_that_can_save();

}  // namespace adamant::properties
