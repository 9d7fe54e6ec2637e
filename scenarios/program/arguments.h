// The command line as a value. Every option is checked here, and no command sees argv.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/program/parse.h"
#include "scenarios/report/style.h"

namespace adamant::scenarios {

enum class Command {
#define ADAMANT_COMMAND(name, ...) name,
#include "scenarios/program/commands.inc"
};

/// As it is called and as documents name it.
constexpr std::string_view name_of(Command command) {
  constexpr std::string_view names[] = {
#define ADAMANT_COMMAND(name, ...) #name,
#include "scenarios/program/commands.inc"
  };
  return names[static_cast<int>(command)];
}

struct Arguments {
  std::string program;                // as it was called, for lines to paste
  char const* const* argv = nullptr;  // the whole call, for a program that takes it over
  Command command = Command::run;

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
  std::string script_of_shell;            // completion: for the one that was named
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

/// Errors: EndOfProgram, for what CLI11 ends with and for bad usage (status 2).
Arguments parse_arguments(int argc, char const* const* argv);

/// A seed where nobody gives one: the only place of the program that asks the system for chance.
/// Whoever draws prints it. Units: below 2^32, which is short enough to retype.
std::uint64_t draw_seed();
/// The same, which is said but with --quiet.
std::uint64_t draw_and_say_seed(Arguments const& arguments);

}  // namespace adamant::scenarios
