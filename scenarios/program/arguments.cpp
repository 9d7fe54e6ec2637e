#include "scenarios/program/arguments.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/commands.h"
#include "scenarios/program/completion.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/version.h"
#include "scenarios/report/output_file.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void refuse(std::string const& what) {
  throw EndOfProgram{.status = 2, .text = what + "\n"};
}

/// Where an output ends up, links followed as far as they lead somewhere.
std::filesystem::path place_of(std::filesystem::path const& path) {
  if (is_standard_output(path)) return "-";
  std::error_code impossible;  // then writing will say so
  auto const place = std::filesystem::weakly_canonical(std::filesystem::absolute(path), impossible);
  return impossible ? path : place;
}

/// No two files that are written may be one.
void refuse_equal_outputs(Arguments const& arguments) {
  std::vector<Output> const outputs = outputs_of(arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = i + 1; j < outputs.size(); ++j)
      if (place_of(outputs[i].path) == place_of(outputs[j].path))
        refuse(std::string(outputs[i].what) + " and " + std::string(outputs[j].what) +
               ": both would be written to " + outputs[j].path.string());
}

/// Shards of a search write beside each other.
void check_shard(Arguments& arguments) {
  if (arguments.command == Command::run) return;
  if (!arguments.seed && !arguments.campaign)
    refuse("--shard: needs --seed or --campaign, or the shards would search different cases");
  if (arguments.mutants) refuse("--shard: mutants are not shared out; leave it out");
  if (!arguments.out) return;
  *arguments.out /=
      std::to_string(arguments.shard->index) + "-of-" + std::to_string(arguments.shard->count);
}

/// Refuses what does not go together: two outputs into one file, shards that could not be put
/// together again. Gives each shard of a search its own directory.
void check_together(Arguments& arguments) {
  refuse_equal_outputs(arguments);
  if (arguments.html && arguments.mutants) refuse("--html: mutants have no page; leave it out");
  if (arguments.shard) check_shard(arguments);
}

class Parser {
 public:
  explicit Parser(Arguments& arguments) : arguments_(arguments) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version",
                          "adamant " + this_program().version + " (" + this_program().commit + ")");
    app_.failure_message(CLI::FailureMessage::simple);
    add_look();
    add_commands(app_, arguments);
  }

  void parse(int argc, char const* const* argv) {
    if (argc <= 1) throw EndOfProgram{.status = 0, .text = app_.help()};
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

  void add_look() {
    auto* const quiet = app_.add_flag_callback(
        "--quiet", [this] { arguments_.verbosity = Verbosity::quiet; }, "Print failures alone");
    auto* const verbose = app_.add_flag_callback(
        "--verbose", [this] { arguments_.verbosity = Verbosity::verbose; }, "Print everything");
    quiet->excludes(verbose);
    static std::map<std::string, ColorMode> const modes{
        {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}};
    app_.add_option("--color", arguments_.color, "auto, always or never")
        ->transform(CLI::Validator(
            [](std::string& word) {
              auto const mode = modes.find(word);
              if (mode == modes.end())
                return "expected auto, always or never, found `" + word + "`";
              word = std::to_string(static_cast<int>(mode->second));
              return std::string();
            },
            ""))
        ->option_text("WHEN");
  }

  Arguments& arguments_;
  CLI::App app_{"One scenario, many engines, one verdict: tests of sharded Adam.", "adamant"};
};

}  // namespace

Arguments parse_arguments(int argc, char const* const* argv) {
  Arguments arguments;
  arguments.program = argc > 0 ? argv[0] : "adamant";
  arguments.argv = argv;
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
  add("--html", arguments.html);
  if (arguments.command == Command::minimize)
    outputs.push_back({"--out", arguments.out.value_or("-")});
  return outputs;
}

std::uint64_t draw_seed() {
  std::uint32_t seed = 0;
  // Up to 256 bytes are never cut short once the system has started.
  ADAMANT_RUN_ASSERT(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

std::uint64_t draw_and_say_seed(Arguments const& arguments) {
  std::uint64_t const seed = draw_seed();
  if (arguments.verbosity != Verbosity::quiet)
    print(arguments, fmt::format("seed {} (drawn)\n", seed));
  return seed;
}

}  // namespace adamant::scenarios
