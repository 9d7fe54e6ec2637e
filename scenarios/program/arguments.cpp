#include "scenarios/program/arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/words.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/argument_checks.h"
#include "scenarios/program/completion.h"
#include "scenarios/program/footers.h"
#include "scenarios/program/version.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t cases_max = std::uint64_t{1} << 53U;

class Parser {
 public:
  explicit Parser(Arguments& arguments) : arguments_(arguments) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version",
                          "adamant " + this_program().version + " (" + this_program().commit + ")");
    app_.failure_message(CLI::FailureMessage::simple);
    add_look();
    add_run();
    add_fuzz();
    add_merge();
    add_hunt();
    add_minimize();
    add_listings();
    add_bench();
  }

  void parse(int argc, char const* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (CLI::Success const& success) {
      end(success, 0);
    } catch (CLI::RequiredError const& error) {
      refuse_unknown_command(argc, argv);
      end(error, 2);
    } catch (CLI::ExtrasError const& error) {
      end(CLI::ExtrasError(error.what() + options_meant(), CLI::ExitCodes::ExtrasError), 2);
    } catch (CLI::ParseError const& error) {
      end(error, 2);
    }
    check_together(arguments_);
  }

 private:
  [[noreturn]] void end(CLI::ParseError const& error, int status) {
    std::ostringstream out;
    std::ostringstream messages;
    app_.exit(error, out, messages);
    std::string const hint = status == 0 ? "" : "usage: adamant COMMAND …; see adamant --help\n";
    throw EndOfProgram{.status = status, .text = out.str() + messages.str() + hint};
  }

  /// CLI11 says of a wrong command only that one is missing.
  void refuse_unknown_command(int argc, char const* const* argv) {
    std::string const first = argc > 1 ? argv[1] : "-";
    if (first.starts_with("-") || !app_.get_subcommands().empty()) return;
    std::vector<std::string_view> names;
    for (CLI::App const* const sub : app_.get_subcommands({})) names.push_back(sub->get_name());
    end(CLI::ExtrasError("there is no command `" + first + "`" + suggest(first, names) +
                             "; known: " + list_words(names),
                         CLI::ExitCodes::ExtrasError),
        2);
  }

  /// For each option that is none, the one that was probably meant.
  std::string options_meant() const {
    std::vector<std::string> known = option_names(app_);
    for (CLI::App const* const sub : app_.get_subcommands())
      std::ranges::move(option_names(*sub), std::back_inserter(known));
    std::vector<std::string_view> const names(known.begin(), known.end());
    std::string text;
    for (std::string const& extra : app_.remaining(true)) {
      std::string const word = extra.substr(0, extra.find('='));
      if (word.starts_with("--")) text += suggest(word, names);
    }
    return text;
  }

  [[noreturn]] static void refuse(std::string const& what) {
    throw EndOfProgram{.status = 2, .text = what + "\n"};
  }

  CLI::App* add_command(Command command, char const* name, char const* text) {
    CLI::App* const sub = app_.add_subcommand(name, text);
    sub->fallthrough();
    sub->footer([command] { return footer_of(command); });
    sub->callback([this, command] { arguments_.command = command; });
    return sub;
  }

  void add_look() {
    auto* const quiet = app_.add_flag_callback(
        "--quiet", [this] { arguments_.verbosity = Verbosity::quiet; }, "Print failures alone");
    auto* const verbose = app_.add_flag_callback(
        "--verbose", [this] { arguments_.verbosity = Verbosity::verbose; }, "Print everything");
    quiet->excludes(verbose);
    static std::map<std::string, ColorMode> const modes{
        {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
    app_.add_option("--color", arguments_.color, "auto, always or never")
        ->transform(CLI::Transformer(modes))
        ->option_text("WHEN");
  }

  void add_count(CLI::App* sub, std::string const& name, CountRange range, char const* text,
                 std::function<void(std::uint64_t)> const& take) {
    auto const set = [name, range, take](std::string const& value) {
      auto const count = parse_count(value, range);
      if (count) return take(*count);
      throw CLI::ValidationError(name + ": `" + value + "` is not an integer in [" +
                                 std::to_string(range.first) + ", " + std::to_string(range.last) +
                                 "]");
    };
    sub->add_option_function<std::string>(name, set, text)->option_text("N");
  }

  template <typename Target>
  void add_path(CLI::App* sub, std::string const& name, Target& target, char const* text) {
    auto const set = [&target, name](std::string const& value) {
      if (value.empty()) throw CLI::ValidationError(name + ": an empty path");
      target = value;
    };
    sub->add_option_function<std::string>(name, set, text)->option_text("PATH");
  }

  void add_common(CLI::App* sub) {
    add_count(sub, "--seed", {0, std::numeric_limits<std::uint64_t>::max()},
              "The seed; drawn and printed if absent",
              [this](std::uint64_t seed) { arguments_.seed = seed; });
    arguments_.jobs = default_workers();
    add_count(sub, "--jobs", {1, 1024}, "Worker processes; default: the cores",
              [this](std::uint64_t jobs) { arguments_.jobs = static_cast<int>(jobs); });
    add_outputs(sub);
  }

  void add_engine(CLI::App* sub) {
    sub->add_option_function<std::string>(
           "--engine", [this](std::string const& name) { set_engine(name); },
           "sim, sim-unchecked, cuda, torch or exec:COMMAND")
        ->option_text("NAME");
    sub->add_option_function<std::string>(
           "--bug", [this](std::string const& id) { set_bug("--bug", id); },
           "Switch a catalogued bug on; adamant bugs lists them")
        ->option_text("ID");
    add_peer_timeout(sub);
  }

  void add_peer_timeout(CLI::App* sub) {
    add_count(
        sub, "--peer-timeout", {1, 1'000'000},
        "Seconds to wait for an engine outside the process; default: 60 for its start, 25 for "
        "an answer",
        [this](std::uint64_t s) { arguments_.peer_timeout = std::chrono::seconds(s); });
  }

  void add_outputs(CLI::App* sub) {
    add_path(sub, "--json", arguments_.json, "Write results as JSON");
    add_path(sub, "--junit", arguments_.junit, "Write results as JUnit XML");
  }

  void add_script(CLI::App* sub) {
    add_path(sub, "--script", arguments_.script,
             "Write a stand-alone script that shows what broke; engine torch");
  }

  void set_engine(std::string const& name) {
    if (!is_engine_name(name)) {
      throw CLI::ValidationError("--engine: `" + name +
                                 "` is none of sim, sim-unchecked, cuda, torch, exec:COMMAND");
    }
    arguments_.engine = name;
  }

  void set_examined_engine(std::string const& name) {
    set_engine(name);
    if (name != "torch" && !name.starts_with("exec:"))
      throw CLI::ValidationError("--engine: `" + name +
                                 "` is inside this program; torch and exec:COMMAND are examined");
  }

  void set_bug(std::string const& where, std::string const& id) {
    check_bug(where, id);
    arguments_.bug = id;
  }

  static void check_bug(std::string const& where, std::string const& id) {
    if (bugs::find(id) == nullptr) {
      throw CLI::ValidationError(where + ": no catalogued bug is called `" + id + "`" +
                                 suggest(id, bugs::ids()) + "; adamant bugs lists them");
    }
  }

  void add_schedules(CLI::App* sub, char const* text) {
    add_count(sub, "--schedules", {0, 1'000'000}, text,
              [this](std::uint64_t count) { arguments_.schedules = static_cast<int>(count); });
  }

  void add_run() {
    CLI::App* const sub =
        add_command(Command::run, "run", "Run scenario files, or all in a directory (recursively)");
    sub->add_option("PATH", arguments_.paths, "Files and directories; - is the standard input")
        ->required();
    add_selection(sub);
    add_strict(sub);
    add_schedules(sub, "Also run each under N schedules, random and pct");
    add_path(sub, "--dump", arguments_.dump, "Write inputs and states as safetensors");
    add_script(sub);
    add_path(sub, "--trace", arguments_.trace,
             "Write a Perfetto / Chrome trace in simulated time; one scenario, engine sim");
    add_common(sub);
    add_engine(sub);
  }

  void add_shard(CLI::App* sub) {
    auto const set_shard = [this](std::string const& value) {
      auto const shard = parse_shard(value);
      if (!shard)
        throw CLI::ValidationError("--shard: `" + value + "` is not I/N with I from 0 to N - 1");
      arguments_.shard = *shard;
    };
    sub->add_option_function<std::string>("--shard", set_shard,
                                          "Part I of N disjoint parts, I from 0")
        ->option_text("I/N");
  }

  void add_selection(CLI::App* sub) {
    sub->add_option("--filter", arguments_.filter, "Only those whose path, file or name it matches")
        ->option_text("GLOB");
    add_shard(sub);
    sub->add_flag("--list", arguments_.list, "Only say which they are");
    add_count(sub, "--timeout", {1, 1'000'000}, "Seconds for one scenario; then it is an error",
              [this](std::uint64_t s) { arguments_.timeout = std::chrono::seconds(s); });
    sub->add_flag("--fail-fast", arguments_.fail_fast, "End at the first failure");
    add_path(sub, "--cache", arguments_.cache,
             "Directory that remembers failures: next time they come first");
  }

  void add_strict(CLI::App* sub) {
    sub->add_flag("--strict", arguments_.strict, "Warnings fail: error.unseen, memory.leak");
  }

  void add_time(CLI::App* sub, char const* text) {
    auto const set = [this](std::string const& value) {
      arguments_.time = parse_duration(value);
      if (!arguments_.time) {
        throw CLI::ValidationError("--for: `" + value + "` is not a duration such as 60s or 5m");
      }
    };
    sub->add_option_function<std::string>("--for", set, text)->option_text("TIME");
  }

  void add_fuzz() {
    CLI::App* const sub =
        add_command(Command::fuzz, "fuzz", "Generate scenarios, run them, minimise what fails");
    add_count(sub, "--cases", {1, cases_max}, "How many; default 1000",
              [this](std::uint64_t cases) { arguments_.cases = cases; });
    add_time(sub, "How long, such as 60s or 5m");
    add_count(sub, "--skip", {0, cases_max}, "Start at case number N of the seed",
              [this](std::uint64_t skip) { arguments_.skip = skip; });
    add_path(sub, "--out", arguments_.out, "Directory for what fails");
    add_strict(sub);
    add_path(sub, "--campaign", arguments_.campaign,
             "Directory that keeps all that was searched and found: go on there");
    sub->get_option("--campaign")->excludes("--skip");
    add_shard(sub);
    add_common(sub);
    add_engine(sub);
  }

  void add_merge() {
    CLI::App* const sub = add_command(Command::merge, "merge",
                                      "What the shards of a campaign have found and done together");
    sub->add_option("DIR", arguments_.paths, "What --campaign of fuzz named, on each machine")
        ->required();
    add_path(sub, "--out", arguments_.out, "Directory for what fails, each defect once");
    add_outputs(sub);
  }

  void add_hunt() {
    CLI::App* const sub =
        add_command(Command::hunt, "hunt", "How fast does random search find each catalogued bug");
    sub->add_option("BUG", arguments_.bugs, "Only these; default: all")->option_text("BUG");
    sub->parse_complete_callback([this] {
      if (arguments_.mutants && !bugs::is_of_mutants()) return;  // who has them knows them
      for (std::string const& id : arguments_.bugs) check_bug("BUG", id);
    });
    add_count(sub, "--searches", {1, 1000}, "How often each is searched for; default 5",
              [this](std::uint64_t count) { arguments_.searches = static_cast<int>(count); });
    add_count(sub, "--cases", {1, cases_max}, "At most so many cases a search",
              [this](std::uint64_t cases) { arguments_.cases = cases; });
    add_time(sub, "At most so long a search; default 60s");
    sub->add_flag(
        "--mutants", arguments_.mutants,
        "Machine-made mistakes instead: does anything notice them? Needs adamant-mutants");
    add_path(sub, "--out", arguments_.out,
             "Directory for a minimised scenario of each that was found");
    add_shard(sub);
    add_common(sub);
  }

  void add_minimize() {
    CLI::App* const sub = add_command(Command::minimize, "minimize",
                                      "Reduce a failing scenario to a small one that fails alike");
    sub->add_option("FILE", arguments_.paths, "A scenario file")->required()->expected(1);
    add_path(sub, "-o,--out", arguments_.out, "Where the result goes; default: standard output");
    add_schedules(sub, "Look for the failure under N schedules more, random and pct");
    add_script(sub);
    add_common(sub);
    add_engine(sub);
  }

  void add_listings() {
    CLI::App* const listing = add_command(Command::laws, "laws", "List the laws");
    add_path(listing, "--json", arguments_.json, "Write them as JSON; - is standard output");
    CLI::App* const catalogue = add_command(Command::bugs, "bugs", "List the catalogue of bugs");
    add_path(catalogue, "--json", arguments_.json, "Write it as JSON; - is standard output");
    catalogue
        ->add_option_function<std::string>(
            "--show", [this](std::string const& id) { set_bug("--show", id); },
            "Show how this one is made: its diff to the engine")
        ->option_text("ID")
        ->excludes("--json");
    CLI::App* const help =
        add_command(Command::help, "help", "Explain a key or an operation of the scenario format");
    help->add_option("KEY", arguments_.word, "A key or an operation")->required();
    add_doctor();
    add_completion();
  }

  /// Says all that it has to say while the line is parsed, like --help.
  void add_completion() {
    CLI::App* const sub =
        app_.add_subcommand("completion", "Print a script by which a shell completes adamant");
    auto const print = [this](std::string const& shell) {
      if (std::ranges::count(completed_shells, shell) == 0)
        throw CLI::ValidationError("SHELL: `" + shell + "` is none of " +
                                   list_words(completed_shells));
      throw EndOfProgram{.status = 0, .text = completion_of(app_, shell)};
    };
    sub->add_option_function<std::string>("SHELL", print, "bash, zsh or fish")->required();
    sub->footer("Example:\n  source <(adamant completion bash)");
  }

  void add_doctor() {
    CLI::App* const sub = add_command(Command::doctor, "doctor",
                                      "What this machine has, or what is wrong with an engine");
    sub->add_option_function<std::string>(
           "--engine", [this](std::string const& name) { set_examined_engine(name); },
           "Examine this engine: torch or exec:COMMAND")
        ->option_text("NAME");
    add_peer_timeout(sub);
    add_path(sub, "--json", arguments_.json, "Write what was found as JSON");
  }

  void add_bench() {
    CLI::App* const sub = add_command(Command::bench, "bench", "Measure");
    sub->add_option("--suite", arguments_.suites, "Only this one; can be repeated")
        ->option_text("NAME")
        ->expected(1)
        ->take_all();
    sub->add_flag("--full", arguments_.full, "Also what takes minutes");
    add_outputs(sub);
  }

  Arguments& arguments_;
  CLI::App app_{"One scenario, many engines, one verdict: tests of sharded Adam.", "adamant"};
};

}  // namespace

Arguments parse_arguments(int argc, char const* const* argv) {
  Arguments arguments;
  arguments.program = argc > 0 ? argv[0] : "adamant";
  Parser(arguments).parse(argc, argv);
  return arguments;
}

std::vector<Output> outputs_of(Arguments const& arguments) {
  std::vector<Output> outputs;
  auto const add = [&](std::string_view what, std::optional<std::filesystem::path> const& path) {
    if (path) outputs.push_back({what, *path});
  };
  add("--json", arguments.json);
  add("--junit", arguments.junit);
  add("--script", arguments.script);
  add("--trace", arguments.trace);
  return outputs;
}

}  // namespace adamant::scenarios
