#include "scenarios/program/arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "scenarios/language/words.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/pool/pool.h"
#include "scenarios/program/completion.h"
#include "scenarios/program/options.h"
#include "scenarios/program/version.h"
#include "scenarios/report/output_file.h"

namespace adamant::scenarios {

namespace {

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
        throw EndOfProgram{
            .status = 2,
            .text = fmt::format("{} and {}: both would be written to {}\n", outputs[i].what,
                                outputs[j].what, outputs[j].path.string())};
}

/// What stands below the options in a command's help: those of every command, an example, how the
/// command ends.
std::string footer(Command const& command) {
  std::string text = command.notes == nullptr ? "" : command.notes();
  text += fmt::format(
      "With every command:\n  --quiet, --verbose, --color auto|always|never\n"
      "\nExample:\n  {}\n\nEnds with:\n  0    all is well\n",
      command.example);
  if (*command.failure != 0) text += fmt::format("  1    {}\n", command.failure);
  return text +
         "  2    bad usage or input, or an output that cannot be written\n"
         "  3    this machine lacks what was asked for\n"
         "  130  interrupted";
}

void add_verbosity(CLI::App& app, Arguments& arguments) {
  auto* const quiet = app.add_flag_callback(
      "--quiet", [&] { arguments.verbosity = Verbosity::quiet; }, "Print failures alone");
  auto* const verbose = app.add_flag_callback(
      "--verbose", [&] { arguments.verbosity = Verbosity::verbose; }, "Print everything");
  quiet->excludes(verbose);
}

void add_color(CLI::App& app, Arguments& arguments) {
  auto const take = [&](std::string const& word) {
    constexpr std::string_view words[] = {"auto", "always", "never"};
    auto const mode = value_named<ColorMode>(words, word);
    if (!mode)
      throw CLI::ValidationError("--color", "expected auto, always or never, found `" + word + "`");
    arguments.color = *mode;
  };
  app.add_option_function<std::string>("--color", take, "auto, always or never")
      ->option_text("WHEN");
}

void add_command(CLI::App& app, Command const& command, Arguments& arguments) {
  CLI::App* const added = app.add_subcommand(command.name, command.text);
  added->fallthrough();
  added->footer([&command] { return footer(command); });
  added->callback([&] { arguments.command = &command; });
  for (Option const& option : command.options) add_option(*added, option, arguments);
}

[[noreturn]] void end(CLI::App const& app, CLI::ParseError const& error, int status) {
  std::ostringstream out;
  std::ostringstream messages;
  app.exit(error, out, messages);
  std::string const hint = status == 0 ? "" : "usage: adamant COMMAND …; see adamant --help\n";
  throw EndOfProgram{.status = status, .text = out.str() + messages.str() + hint};
}

/// CLI11 says of a wrong command only that one is missing.
void refuse_unknown_command(CLI::App const& app, int argc, char const* const* argv) {
  std::string const first = argc > 1 ? argv[1] : "-";
  if (first.starts_with("-") || !app.get_subcommands().empty()) return;
  std::vector<std::string_view> names;
  for (Command const* const command : commands) names.emplace_back(command->name);
  end(app,
      CLI::ExtrasError("there is no command `" + first + "`" + suggest(first, names) +
                           "; known: " + list_words(names),
                       CLI::ExitCodes::ExtrasError),
      2);
}

/// For each option that is none, the one that was probably meant.
std::string options_meant(CLI::App const& app) {
  std::vector<std::string> known = option_names(app);
  for (CLI::App const* const sub : app.get_subcommands())
    std::ranges::move(option_names(*sub), std::back_inserter(known));
  std::vector<std::string_view> const names(known.begin(), known.end());
  std::string text;
  for (std::string const& extra : app.remaining(true)) {
    std::string const word = extra.substr(0, extra.find('='));
    if (word.starts_with("--")) text += suggest(word, names);
  }
  return text;
}

}  // namespace

void describe_command_line(CLI::App& app, Arguments& arguments) {
  app.name("adamant");
  app.description("One scenario, many engines, one verdict: tests of sharded Adam.");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       "adamant " + this_program().version + " (" + this_program().commit + ")");
  app.failure_message(CLI::FailureMessage::simple);
  add_verbosity(app, arguments);
  add_color(app, arguments);
  for (Command const* const command : commands) add_command(app, *command, arguments);
}

Arguments parse_arguments(int argc, char const* const* argv) {
  Arguments arguments;
  arguments.program = argc > 0 ? argv[0] : "adamant";
  arguments.argv = argv;
  arguments.jobs = default_workers();
  CLI::App app;
  describe_command_line(app, arguments);
  if (argc <= 1) throw EndOfProgram{.status = 0, .text = app.help()};
  try {
    app.parse(argc, argv);
    if (arguments.command->check != nullptr) arguments.command->check(arguments);
  } catch (CLI::Success const& success) {
    end(app, success, 0);
  } catch (CLI::RequiredError const& error) {
    refuse_unknown_command(app, argc, argv);
    end(app, error, 2);
  } catch (CLI::ExtrasError const& error) {
    end(app, CLI::ExtrasError(error.what() + options_meant(app), CLI::ExitCodes::ExtrasError), 2);
  } catch (CLI::ParseError const& error) {
    end(app, error, 2);
  }
  refuse_equal_outputs(arguments);
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
  if (arguments.command == &minimize_command)
    outputs.push_back({"--out", arguments.out.value_or("-")});
  return outputs;
}

}  // namespace adamant::scenarios
