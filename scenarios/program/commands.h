// The commands: each is a row of commands.inc, and a file that says which options it has and what
// it does.
#pragma once

#include <chrono>
#include <optional>

#include "scenarios/program/arguments.h"
#include "scenarios/report/status.h"

namespace CLI {
class App;
}

namespace adamant::scenarios {

/// Adds all commands to the program. What a user gives them goes into `arguments`, which outlives
/// the parsing.
void add_commands(CLI::App& program, Arguments& arguments);

/// Executes the one that they name. Errors: as of each.
Status execute(Arguments const& arguments);

// Of each command: its options, of which values that cannot be are CLI::ValidationError; and what
// it does. Errors: CannotWrite; of some MachineLacks or CampaignError.
#define ADAMANT_COMMAND(name, ...)                                    \
  void add_##name##_options(CLI::App& command, Arguments& arguments); \
  Status name##_command(Arguments const& arguments);
#include "scenarios/program/commands.inc"

/// `adamant fuzz --campaign DIR`: a search that keeps what it does, shares its cases with other
/// processes, and goes on where it was. One shard's part, which ends at `until` where that is given
/// (--for). Ends with 1 if the shard has found anything, now or earlier.
///
/// Errors: CampaignError.
Status campaign_command(Arguments const& arguments,
                        std::optional<std::chrono::steady_clock::time_point> until);

/// `adamant hunt --mutants`: does anything notice the mistakes that a machine made? Met: each
/// mutant was noticed, or scenarios/bugs/MUTANTS.md says why it was not. Where this program has
/// none, the one beside it that does is called in its place; lacking where that was not built.
Status mutants_command(Arguments const& arguments);

}  // namespace adamant::scenarios
