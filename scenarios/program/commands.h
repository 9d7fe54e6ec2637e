// The commands: which options each has, and what each does.
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

/// `adamant run`: reads all files, runs each in a worker process, reports in the order of the
/// files. A refusal that is seen while reading and not expected ends with 2; the other files still
/// run.
///
/// Errors: CannotWrite, as of all that follow.
Status run_command(Arguments const& arguments);

/// `adamant fuzz`: generates scenarios from a seed, runs each in a worker process, and minimises
/// failures until each is explained by a small scenario. Ends with 1 if anything was found.
Status fuzz_command(Arguments const& arguments);

/// `adamant fuzz --campaign DIR`: a search that keeps what it does, shares its cases with other
/// processes, and goes on where it was. One shard's part, which ends at `until` where that is given
/// (--for). Ends with 1 if the shard has found anything, now or earlier.
///
/// Errors: CampaignError.
Status campaign_command(Arguments const& arguments,
                        std::optional<std::chrono::steady_clock::time_point> until);

/// `adamant merge DIR…`: what all shards have found, each defect once, and their ledger. Ends with
/// 1 if that is anything.
///
/// Errors: CampaignError.
Status merge_command(Arguments const& arguments);

/// `adamant hunt`: how fast random search finds each catalogued bug. The alarm is tested with it: a
/// canary that every search must find is always among the hunted. Met where every bug was found by
/// its law.
Status hunt_command(Arguments const& arguments);

/// `adamant hunt --mutants`: does anything notice the mistakes that a machine made? Met: each
/// mutant was noticed, or scenarios/bugs/MUTANTS.md says why it was not. Where this program has
/// none, the one beside it that does is called in its place with `argv`; lacking where that was not
/// built.
Status mutants_command(Arguments const& arguments, char const* const* argv);

/// `adamant minimize FILE`: minimises a failing scenario.
Status minimize_command(Arguments const& arguments);

/// `adamant explain FILE`: the operations and roundings of one value.
///
/// Errors: MachineLacks.
Status explain_command(Arguments const& arguments);

/// `adamant bench`: measures, prints a table, writes the rows.
Status bench_command(Arguments const& arguments);

/// `adamant laws` lists the identifiers that scenarios and results use.
Status laws_command(Arguments const& arguments);

/// `adamant bugs` lists the catalogue.
Status bugs_command(Arguments const& arguments);

/// `adamant help`: what the format's tables say of a key or an operation; bad input where there is
/// none.
Status help_command(Arguments const& arguments);

/// `adamant doctor`: what this machine has, or what is wrong with an engine outside the process.
///
/// Errors: MachineLacks where that engine cannot be started.
Status doctor_command(Arguments const& arguments);

}  // namespace adamant::scenarios
