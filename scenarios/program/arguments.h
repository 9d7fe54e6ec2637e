// The command line as a value, and the commands that it may name. Every option is checked before a
// command sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/program/parse.h"
#include "scenarios/report/status.h"
#include "scenarios/report/style.h"

namespace CLI {
class App;
}

namespace adamant::scenarios {

struct Option;
struct Command;

struct Arguments {
  std::string program;  // as it was called, for lines to paste
  char const* const* argv = nullptr;
  Command const* command = nullptr;

  std::vector<std::filesystem::path> paths;  // of scenarios; merge: of campaigns
  std::optional<std::uint64_t> seed;
  std::optional<std::string> engine;
  std::optional<std::string> bug;  // in the place of what scenarios say; bugs: to show
  int schedules = 0;
  std::optional<std::string> filter;   // a glob over paths and names
  std::optional<std::string> exclude;  // the same, of what is left out
  std::optional<Portion> shard;
  bool list = false;                                 // names alone
  bool trust = false;                                // commands that files name run
  bool dry_run = false;                              // run: memory alone
  std::optional<std::chrono::seconds> timeout;       // of one scenario
  std::optional<std::chrono::seconds> peer_timeout;  // the longest wait for an engine outside
  bool fail_fast = false;
  bool strict = false;                         // warnings fail
  std::optional<std::filesystem::path> cache;  // a directory, for the last failures
  int jobs = 1;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> junit;
  std::optional<std::filesystem::path> dump;
  std::optional<std::filesystem::path> script;  // run, minimize: for a bug report
  std::optional<std::filesystem::path> trace;   // run: in simulated time
  std::optional<std::filesystem::path> html;    // a page for people

  std::optional<std::uint64_t> cases;
  std::optional<std::chrono::milliseconds> time;
  std::uint64_t skip = 0;                         // the first case of a search
  bool first = false;                             // fuzz: end at the first failure that is new
  std::optional<std::filesystem::path> known;     // run, fuzz: a file of known defects
  std::vector<std::string> unknown;               // run, fuzz: known ones that count as new
  std::optional<std::filesystem::path> campaign;  // a directory: fuzz goes on there
  std::optional<std::filesystem::path> out;       // fuzz: a directory; minimize: a file

  std::vector<std::string> bugs;  // to hunt for; none means all
  int searches = 5;               // for each of them
  bool mutants = false;           // machine-made ones

  std::string word;                       // help: to explain
  std::string element;                    // explain: KEY[INDEX]
  std::optional<std::int64_t> operation;  // explain: index of the program's entry

  std::vector<std::string> suites;
  bool full = false;

  Verbosity verbosity = Verbosity::normal;
  ColorMode color = ColorMode::automatic;
};

/// A file that the command line asks for.
struct Output {
  std::string_view what;  // its option
  std::filesystem::path path;
};
std::vector<Output> outputs_of(Arguments const& arguments);

/// The program has nothing more to do: `text` was asked for (help, version), or says what is wrong.
struct EndOfProgram {
  int status = 0;
  std::string text;
};

/// All commands and options. What a user gives them goes into `arguments`, which outlive the
/// parsing.
void describe_command_line(CLI::App& app, Arguments& arguments);

/// Errors: EndOfProgram, for what CLI11 ends with and for bad usage (status 2).
Arguments parse_arguments(int argc, char const* const* argv);

// ---- commands ----------------------------------------------------------------------------------

/// All that the program knows of a command: one row, which stands in the command's own file.
struct Command {
  char const* name;  // as it is called and as documents name it
  char const* text;
  char const* example;
  char const* failure = "";  // what 1 means, where that happens; the other statuses mean the same
  std::initializer_list<Option> options;
  void (*check)(Arguments& arguments) = nullptr;  // of what does not go together
  std::string (*notes)() = nullptr;               // of its help, before the example
  /// Errors: CannotWrite, MachineLacks, CampaignError, LoadError, which main() says.
  Status (*run)(Arguments const& arguments);
};

/// Reads all files, runs each in a worker process, reports in the order of the files. A refusal
/// that is seen while reading and not expected ends with 2; the other files still run.
extern Command const run_command;
/// Generates scenarios from a seed, runs each in a worker process, and minimises failures until
/// each is explained by a small scenario. Ends with 1 if anything was found.
extern Command const fuzz_command;
/// What all shards of a campaign have found, each defect once, and their ledger. Ends with 1 if
/// that is anything.
extern Command const merge_command;
/// How fast random search finds each catalogued bug. The alarm is tested with it: a canary that
/// every search must find is always among the hunted. Met where every bug was found by its law.
extern Command const hunt_command;
extern Command const minimize_command;
extern Command const explain_command;
/// Lists the identifiers that scenarios and results use.
extern Command const laws_command;
extern Command const bugs_command;
/// What the format's tables say of a word; bad input where there is none.
extern Command const help_command;
/// What this machine has, or what is wrong with an engine outside the process.
extern Command const doctor_command;
/// A script by which a shell completes the command line.
extern Command const completion_command;
extern Command const bench_command;

/// As help lists them.
inline constexpr Command const* commands[] = {
    &run_command,      &fuzz_command,    &merge_command,      &hunt_command,
    &minimize_command, &explain_command, &laws_command,       &bugs_command,
    &help_command,     &doctor_command,  &completion_command, &bench_command};

/// `fuzz --campaign DIR`: a search that keeps what it does, shares its cases with other processes,
/// and goes on where it was. One shard's part, which ends at `until` where that is given (--for).
/// Ends with 1 if the shard has found anything, now or earlier.
///
/// Errors: CampaignError.
Status search_in_campaign(Arguments const& arguments,
                          std::optional<std::chrono::steady_clock::time_point> until);

/// `hunt --mutants`: does anything notice the mistakes that a machine made? Met: each mutant was
/// noticed, or scenarios/bugs/MUTANTS.md says why it was not. Where this program has none, the one
/// beside it that does is called in its place; lacking where that was not built.
Status hunt_mutants(Arguments const& arguments);

}  // namespace adamant::scenarios
