#include "scenarios/program/command_options.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <limits>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/pool/pool.h"

namespace adamant::scenarios {

namespace {

void check_engine(std::string const& name) {
  if (!is_engine_name(name))
    throw CLI::ValidationError("--engine: `" + name +
                               "` is neither an engine's name such as sim or torch nor "
                               "exec:COMMAND");
}

void check_examined_engine(std::string const& name) {
  check_engine(name);
  if (!is_peer(name))
    throw CLI::ValidationError("--engine: `" + name +
                               "` is inside this program; adapters and exec:COMMAND are examined");
}

}  // namespace

void check_bug(std::string const& where, std::string const& id) {
  if (bugs::find(id) == nullptr) {
    throw CLI::ValidationError(where + ": no catalogued bug is called `" + id + "`" +
                               suggest(id, bugs::ids()) + "; adamant bugs lists them");
  }
}

void CommandOptions::add_count(std::string const& name, CountRange range, char const* text,
                               std::function<void(std::uint64_t)> const& take) const {
  auto const set = [name, range, take](std::string const& value) {
    auto const count = parse_count(value, range);
    if (count) return take(*count);
    throw CLI::ValidationError(name + ": `" + value + "` is not an integer in [" +
                               std::to_string(range.first) + ", " + std::to_string(range.last) +
                               "]");
  };
  command_.add_option_function<std::string>(name, set, text)->option_text("N");
}

void CommandOptions::add_path(std::string const& name, std::optional<std::filesystem::path>& target,
                              char const* text) const {
  auto const set = [&target, name](std::string const& value) {
    if (value.empty()) throw CLI::ValidationError(name + ": an empty path");
    target = value;
  };
  command_.add_option_function<std::string>(name, set, text)->option_text("PATH");
}

void CommandOptions::add_seed() const {
  add_count("--seed", {0, std::numeric_limits<std::uint64_t>::max()},
            "The seed; drawn and printed if absent",
            [&arguments = arguments_](std::uint64_t seed) { arguments.seed = seed; });
}

void CommandOptions::add_common() const {
  add_seed();
  arguments_.jobs = default_workers();
  add_count(
      "--jobs", {1, 1024}, "Worker processes; default: the cores",
      [&arguments = arguments_](std::uint64_t jobs) { arguments.jobs = static_cast<int>(jobs); });
  add_outputs();
}

void CommandOptions::add_outputs() const {
  add_path("--json", arguments_.json, "Write results as JSON");
  add_path("--junit", arguments_.junit, "Write results as JUnit XML");
}

void CommandOptions::add_engine() const {
  auto const set_engine = [&arguments = arguments_](std::string const& name) {
    check_engine(name);
    arguments.engine = name;
  };
  auto const set_bug = [&arguments = arguments_](std::string const& id) {
    check_bug("--bug", id);
    arguments.bug = id;
  };
  command_
      .add_option_function<std::string>(
          "--engine", set_engine,
          "sim, sim-unchecked, cuda, an adapter such as torch, or exec:COMMAND")
      ->option_text("NAME");
  command_
      .add_option_function<std::string>("--bug", set_bug,
                                        "Switch a catalogued bug on; adamant bugs lists them")
      ->option_text("ID");
  add_peer_timeout();
}

void CommandOptions::add_examined_engine() const {
  auto const set = [&arguments = arguments_](std::string const& name) {
    check_examined_engine(name);
    arguments.engine = name;
  };
  command_
      .add_option_function<std::string>(
          "--engine", set, "Examine this engine: an adapter such as torch, or exec:COMMAND")
      ->option_text("NAME");
  add_peer_timeout();
}

void CommandOptions::add_peer_timeout() const {
  add_count("--peer-timeout", {1, 1'000'000},
            "Seconds to wait for an engine outside the process; default: 60 for its start, 25 for "
            "an answer",
            [&arguments = arguments_](std::uint64_t s) {
              arguments.peer_timeout = std::chrono::seconds(s);
            });
}

void CommandOptions::add_bug_to_show() const {
  auto const set = [&arguments = arguments_](std::string const& id) {
    check_bug("--show", id);
    arguments.bug = id;
  };
  command_
      .add_option_function<std::string>("--show", set,
                                        "Show how this one is made: its diff to the engine")
      ->option_text("ID")
      ->excludes("--json");
}

void CommandOptions::add_selection() const {
  command_
      .add_option("--filter", arguments_.filter, "Only those whose path, file or name it matches")
      ->option_text("GLOB");
  command_.add_option("--exclude", arguments_.exclude, "All but those that it matches so")
      ->option_text("GLOB");
  add_shard();
  command_.add_flag("--list", arguments_.list, "Only say which they are");
  add_count(
      "--timeout", {1, 1'000'000}, "Seconds for one scenario; then it is an error",
      [&arguments = arguments_](std::uint64_t s) { arguments.timeout = std::chrono::seconds(s); });
  command_.add_flag("--fail-fast", arguments_.fail_fast, "End at the first failure");
  add_path("--cache", arguments_.cache,
           "Directory that remembers failures: next time they come first");
}

void CommandOptions::add_shard() const {
  auto const set = [&arguments = arguments_](std::string const& value) {
    auto const shard = parse_shard(value);
    if (!shard)
      throw CLI::ValidationError("--shard: `" + value + "` is not I/N with I from 0 to N - 1");
    arguments.shard = *shard;
  };
  command_.add_option_function<std::string>("--shard", set, "Part I of N disjoint parts, I from 0")
      ->option_text("I/N");
}

void CommandOptions::add_strict() const {
  command_.add_flag("--strict", arguments_.strict,
                    "Warnings fail: error.unseen, memory.leak, error.thread");
}

void CommandOptions::add_trust() const {
  command_.add_flag("--trust", arguments_.trust,
                    "Run the commands that scenario files name as their engines");
}

void CommandOptions::add_known() const {
  add_path("--known", arguments_.known,
           "YAML file of known defects: they are counted and do not fail");
  command_.add_option("--unknown", arguments_.unknown, "A known defect that counts as new here")
      ->option_text("NAME");
}

void CommandOptions::add_dry_run() const {
  CLI::Option* const dry_run =
      command_.add_flag("--dry-run", arguments_.dry_run,
                        "Execute nothing: refuse, and print bytes by purpose and rank");
  for (char const* const executing :
       {"--dump", "--script", "--trace", "--html", "--schedules", "--cache", "--list"})
    dry_run->excludes(executing);
}

void CommandOptions::add_schedules(char const* text) const {
  add_count("--schedules", {0, 1'000'000}, text, [&arguments = arguments_](std::uint64_t count) {
    arguments.schedules = static_cast<int>(count);
  });
}

void CommandOptions::add_script() const {
  add_path("--script", arguments_.script,
           "Write a script that shows what broke, or its session; engines outside the process");
}

void CommandOptions::add_html() const {
  add_path("--html", arguments_.html, "Write one page that shows what broke and how");
}

void CommandOptions::add_extent(char const* cases, char const* time) const {
  add_count("--cases", {1, cases_max}, cases,
            [&arguments = arguments_](std::uint64_t count) { arguments.cases = count; });
  add_time(time);
}

void CommandOptions::add_end_of_search() const {
  add_html();
  add_shard();
  add_common();
}

void CommandOptions::add_time(char const* text) const {
  auto const set = [&arguments = arguments_](std::string const& value) {
    arguments.time = parse_duration(value);
    if (!arguments.time) {
      throw CLI::ValidationError("--for: `" + value + "` is not a duration such as 60s or 5m");
    }
  };
  command_.add_option_function<std::string>("--for", set, text)->option_text("TIME");
}

}  // namespace adamant::scenarios
