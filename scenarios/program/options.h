// The options of commands, a row each: how it is called, what help says of it, and which argument
// takes what a user gives. A command's row lists those that it has; what it has alone stands beside
// that row.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "scenarios/program/arguments.h"
#include "scenarios/program/parse.h"

namespace CLI {
class App;
}

namespace adamant::scenarios {

/// How often it is given.
enum class Times { at_most_once, once, any, at_least_once, one_each_time };

struct Option {
  char const* name;
  char const* value;  // how help calls what follows it; empty: as CLI11 does; null: a flag
  char const* text;
  /// Checks a value and takes it. Errors: CLI::ValidationError at `name`.
  void (*take)(Arguments& arguments, std::string const& name, std::string const& value);
  Times times = Times::at_most_once;
  char const* excludes = "";  // names of options that stand before it, with blanks between them

  constexpr Option with(char const* other_text) const {
    Option other = *this;
    other.text = other_text;
    return other;
  }
};

/// Adds it to a command. What a user gives goes into `arguments`, which outlive the parsing.
void add_option(CLI::App& command, Option const& option, Arguments& arguments);

namespace option {

// ---- kinds of values: `place` is the member of Arguments that takes one ------------------------

/// The value, where it is one. Errors: CLI::ValidationError.
std::uint64_t count_in(std::string const& name, std::string const& value, CountRange range);
std::string const& path_in(std::string const& name, std::string const& value);

template <auto place>
void flag(Arguments& arguments, std::string const&, std::string const&) {
  arguments.*place = true;
}

template <auto place>
void word(Arguments& arguments, std::string const&, std::string const& value) {
  if constexpr (requires { (arguments.*place).emplace_back(); })
    (arguments.*place).emplace_back(value);
  else
    arguments.*place = value;
}

template <auto place>
void path(Arguments& arguments, std::string const& name, std::string const& value) {
  arguments.*place = path_in(name, value);
}

template <auto place, std::uint64_t first, std::uint64_t last>
void count(Arguments& arguments, std::string const& name, std::string const& value) {
  std::uint64_t const number = count_in(name, value, {first, last});
  using Place = std::remove_reference_t<decltype(arguments.*place)>;
  if constexpr (requires { typename Place::value_type; })
    arguments.*place = static_cast<typename Place::value_type>(number);
  else
    arguments.*place = static_cast<Place>(number);
}

void check_bug(std::string const& name, std::string const& id);
void bug_id(Arguments& arguments, std::string const& name, std::string const& value);
void engine_name(Arguments& arguments, std::string const& name, std::string const& value);
void portion(Arguments& arguments, std::string const& name, std::string const& value);
void duration(Arguments& arguments, std::string const& name, std::string const& value);

// ---- what several commands have ----------------------------------------------------------------

inline constexpr std::uint64_t cases_max = std::uint64_t{1} << 53U;

inline constexpr Option scenario_file{"FILE", "", "A scenario file", word<&Arguments::paths>,
                                      Times::once};
inline constexpr Option seed{"--seed", "N", "The seed; drawn and printed if absent",
                             count<&Arguments::seed, 0, std::uint64_t(-1)>};
inline constexpr Option jobs{"--jobs", "N", "Worker processes; default: the cores",
                             count<&Arguments::jobs, 1, 1024>};
inline constexpr Option json{"--json", "PATH", "Write results as JSON", path<&Arguments::json>};
inline constexpr Option junit{"--junit", "PATH", "Write results as JUnit XML",
                              path<&Arguments::junit>};
inline constexpr Option html{"--html", "PATH", "Write one page that shows what broke and how",
                             path<&Arguments::html>};
inline constexpr Option script{
    "--script", "PATH",
    "Write a script that shows what broke, or its session; engines outside the process",
    path<&Arguments::script>};
inline constexpr Option out{"--out", "PATH", "Directory for what fails", path<&Arguments::out>};
inline constexpr Option engine{
    "--engine", "NAME", "sim, sim-unchecked, cuda, an adapter such as torch, or exec:COMMAND",
    engine_name};
inline constexpr Option bug{"--bug", "ID", "Switch a catalogued bug on; adamant bugs lists them",
                            bug_id};
inline constexpr Option peer_timeout{"--peer-timeout", "N",
                                     "Seconds to wait for an engine outside the process; default: "
                                     "60 for its start, 25 for an answer",
                                     count<&Arguments::peer_timeout, 1, 1'000'000>};
inline constexpr Option trust{"--trust", nullptr,
                              "Run the commands that scenario files name as their engines",
                              flag<&Arguments::trust>};
inline constexpr Option strict{"--strict", nullptr,
                               "Warnings fail: error.unseen, memory.leak, error.thread",
                               flag<&Arguments::strict>};
inline constexpr Option known{"--known", "PATH",
                              "YAML file of known defects: they are counted and do not fail",
                              path<&Arguments::known>};
inline constexpr Option unknown{"--unknown", "NAME", "A known defect that counts as new here",
                                word<&Arguments::unknown>, Times::any};
inline constexpr Option shard{"--shard", "I/N", "Part I of N disjoint parts, I from 0", portion};
inline constexpr Option schedules{"--schedules", "N",
                                  "Also run each under N schedules, random and pct",
                                  count<&Arguments::schedules, 0, 1'000'000>};
inline constexpr Option cases{"--cases", "N", "How many; default 1000",
                              count<&Arguments::cases, 1, cases_max>};
inline constexpr Option time{"--for", "TIME", "How long, such as 60s or 5m", duration};

}  // namespace option

}  // namespace adamant::scenarios
