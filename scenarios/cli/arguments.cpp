#include "scenarios/cli/arguments.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "scenarios/pool/pool.h"

namespace adamant::scenarios {

namespace {

/// A number in decimal digits and nothing else, in [first, last].
std::uint64_t parse_count(std::string const& text, std::uint64_t first, std::uint64_t last) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < first || value > last) {
    throw CLI::ValidationError("`" + text + "` is not an integer in [" + std::to_string(first) +
                               ", " + std::to_string(last) + "]");
  }
  return value;
}

class Parser {
 public:
  explicit Parser(Arguments& arguments) : arguments_(arguments) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "adamant " ADAMANT_VERSION);
    app_.failure_message(CLI::FailureMessage::simple);
    add_look();
    add_run();
    add_fuzz();
    add_listings();
    add_bench();
    add_later();
  }

  void parse(int argc, char const* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (CLI::Success const& success) {
      end(success, 0);
    } catch (CLI::ParseError const& error) {
      end(error, 2);
    }
  }

 private:
  [[noreturn]] void end(CLI::ParseError const& error, int status) {
    std::ostringstream out;
    std::ostringstream messages;
    app_.exit(error, out, messages);
    std::string const hint = status == 0 ? "" : "usage: adamant COMMAND …; see adamant --help\n";
    throw EndOfProgram{.status = status, .text = out.str() + messages.str() + hint};
  }

  [[noreturn]] static void refuse(std::string const& what) {
    throw EndOfProgram{.status = 2, .text = what + "\n"};
  }

  CLI::App* add_command(Command command, char const* name, char const* text) {
    CLI::App* const sub = app_.add_subcommand(name, text);
    sub->fallthrough();
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

  template <typename Target>
  void add_count(CLI::App* sub, char const* name, Target& target, std::uint64_t first,
                 std::uint64_t last, char const* text) {
    auto const set = [&target, first, last](std::string const& value) {
      target = parse_count(value, first, last);
    };
    sub->add_option_function<std::string>(name, set, text)->option_text("N");
  }

  template <typename Target>
  void add_path(CLI::App* sub, char const* name, Target& target, char const* text) {
    auto const set = [&target](std::string const& value) {
      if (value.empty()) throw CLI::ValidationError("an empty path");
      target = value;
    };
    sub->add_option_function<std::string>(name, set, text)->option_text("PATH");
  }

  void add_common(CLI::App* sub) {
    add_count(sub, "--seed", arguments_.seed, 0, std::numeric_limits<std::uint64_t>::max(),
              "The seed; drawn and printed if absent");
    add_jobs(sub);
    add_outputs(sub);
    sub->add_option_function<std::string>(
           "--engine", [this](std::string const& name) { set_engine(name); },
           "sim, sim-unchecked, cuda, torch or exec:COMMAND")
        ->option_text("NAME");
    sub->add_option("--fault", arguments_.fault,
                    "Make the engine wrong on purpose, as its own tests do (real/fault.h)")
        ->option_text("NAME");
    sub->add_option_function<std::string>(
           "--bug",
           [](std::string const&) {
             refuse("--bug: no defect is catalogued in this version; leave it out");
           },
           "Switch a catalogued bug on (not there yet)")
        ->option_text("ID");
  }

  void add_jobs(CLI::App* sub) {
    arguments_.jobs = default_workers();
    auto const set = [this](std::string const& value) {
      arguments_.jobs = static_cast<int>(parse_count(value, 1, 1024));
    };
    sub->add_option_function<std::string>("--jobs", set, "Worker processes; default: the cores")
        ->option_text("N");
  }

  void add_outputs(CLI::App* sub) {
    add_path(sub, "--json", arguments_.json, "Write results as JSON");
    add_path(sub, "--junit", arguments_.junit, "Write results as JUnit XML");
  }

  void set_engine(std::string const& name) {
    if (name == "torch" || name.rfind("exec:", 0) == 0) {
      throw EndOfProgram{
          .status = 3,
          .text = "--engine " + name +
                  ": engines outside of this process are not driven by version " ADAMANT_VERSION
                  "; sim and sim-unchecked are here\n"};
    }
    if (name != "sim" && name != "sim-unchecked" && name != "cuda") {
      throw CLI::ValidationError("--engine: `" + name +
                                 "` is none of sim, sim-unchecked, cuda, torch, exec:COMMAND");
    }
    arguments_.engine = name;
  }

  void add_run() {
    CLI::App* const sub =
        add_command(Command::run, "run", "Run scenario files, or all in a directory (recursively)");
    sub->add_option("PATH", arguments_.paths, "Files and directories")->required();
    auto const schedules = [this](std::string const& value) {
      arguments_.schedules = static_cast<int>(parse_count(value, 0, 1'000'000));
    };
    sub->add_option_function<std::string>("--schedules", schedules,
                                          "Also run each under N schedules, random and pct")
        ->option_text("N");
    add_path(sub, "--dump", arguments_.dump, "Write inputs and states as safetensors");
    sub->add_option_function<std::string>(
           "--trace",
           [](std::string const&) { refuse("--trace: traces are not there yet; leave it out"); },
           "A trace of the run in simulated time (not there yet)")
        ->option_text("FILE");
    add_common(sub);
  }

  void add_fuzz() {
    CLI::App* const sub = add_command(Command::fuzz, "fuzz", "Generate scenarios and run them");
    constexpr std::uint64_t cases_max = std::uint64_t{1} << 53U;
    add_count(sub, "--cases", arguments_.cases, 1, cases_max, "How many; default 1000");
    auto const set_time = [this](std::string const& value) {
      arguments_.time = parse_duration(value);
      if (!arguments_.time) {
        throw CLI::ValidationError("--for: `" + value + "` is not a duration such as 60s or 5m");
      }
    };
    sub->add_option_function<std::string>("--for", set_time, "How long, such as 60s or 5m")
        ->option_text("TIME");
    add_count(sub, "--skip", arguments_.skip, 0, cases_max, "Start at case number N of the seed");
    add_path(sub, "--out", arguments_.out, "Directory for what fails");
    add_common(sub);
  }

  void add_listings() {
    CLI::App* const listing = add_command(Command::laws, "laws", "List the laws");
    add_path(listing, "--json", arguments_.json, "Write them as JSON; - is standard output");
    add_command(Command::doctor, "doctor", "What this machine has");
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

  void add_later() {
    for (char const* const name : {"minimize", "hunt", "bugs"}) {
      CLI::App* const sub = app_.add_subcommand(name, "Not there yet");
      sub->prefix_command();
      sub->callback([name] { refuse(std::string("adamant ") + name + ": not there yet"); });
    }
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

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"", 1000}};
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0) || number > 1e6) return std::nullopt;
  std::string_view const rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (auto const& [unit, factor] : units) {
    if (rest == unit) return std::chrono::milliseconds(static_cast<std::int64_t>(number * factor));
  }
  return std::nullopt;
}

}  // namespace adamant::scenarios
