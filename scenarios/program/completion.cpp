#include "scenarios/program/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <span>

#include "scenarios/bench/suite.h"
#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/words.h"
#include "scenarios/language/yaml/help.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"

namespace adamant::scenarios {

namespace {

constexpr std::string_view completed_shells[] = {"bash", "zsh", "fish"};

std::vector<CLI::Option const*> options_of(CLI::App const& command) {
  std::vector<CLI::Option const*> options;
  for (CLI::Option const* const option : command.get_options())
    if (!option->get_lnames().empty()) options.push_back(option);
  return options;
}

std::string words_of(CLI::App const& command) {
  return fmt::format("{}", fmt::join(option_names(command), " "));
}

/// What may stand after an option, or where a command takes a word that is no path.
struct Choice {
  std::string_view command;  // "" for every other
  std::string_view option;   // "" for a word of the command's own
  std::string words;
};

std::string in_words(std::span<std::string_view const> words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<Choice> choices() {
  std::vector<std::string_view> measured;
  for (Suite const& suite : suites()) measured.push_back(suite.name);
  std::string const bugs = in_words(bugs::ids());
  return {{"doctor", "--engine", "torch"},
          {"", "--engine", in_words(engine_names)},
          {"", "--bug", bugs},
          {"", "--show", bugs},
          {"", "--suite", in_words(measured)},
          {"", "--color", "auto always never"},
          {"hunt", "", bugs},
          {"help", "", in_words(words_with_help())},
          {"completion", "", in_words(completed_shells)}};
}

bool has_choices(std::string const& option) {
  auto const all = choices();
  return std::ranges::any_of(all, [&](Choice const& of) { return of.option == option; });
}

/// Patterns of the options that a path, a number or a name follows which nobody can list.
std::string other_values(CLI::App const& app) {
  std::set<std::string> patterns;
  for (CLI::App const* const command : app.get_subcommands({}))
    for (CLI::Option const* const option : options_of(*command)) {
      std::string const name = "--" + option->get_lnames().front();
      if (option->get_items_expected_max() > 0 && !has_choices(name))
        patterns.insert("*\\ " + name);
    }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

std::string bash(CLI::App const& app) {
  std::string commands;
  std::string cases;
  for (CLI::App const* const command : app.get_subcommands({})) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) options=\"{} {}\" ;;\n", command->get_name(), words_of(*command),
                         words_of(app));
  }
  std::string after_option;
  std::string instead_of_files;
  for (auto const& [command, option, words] : choices()) {
    if (option.empty())
      instead_of_files += fmt::format("    {}) words=\"{}\" ;;\n", command, words);
    else
      after_option += fmt::format("    {}\\ {}) words=\"{}\" ;;\n", command.empty() ? "*" : command,
                                  option, words);
  }
  after_option += fmt::format("    {}) words= ;;\n", other_values(app));
  return fmt::format(R"(_adamant() {{
  local command=${{COMP_WORDS[1]}} word=${{COMP_WORDS[COMP_CWORD]}} options= words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} {}" -- "$word"))
    return
  fi
  case "$command" in
{}  esac
  case "$command" in
{}  esac
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word"))
       else COMPREPLY=($(compgen -f -- "$word")); fi ;;
  esac
}}
complete -o filenames -F _adamant adamant
)",
                     commands, words_of(app), cases, instead_of_files, after_option);
}

/// In single quotes, as fish reads them.
std::string quoted(std::string const& text) {
  std::string result = "'";
  for (char const c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// The words that may stand where a choice says; "" where none does.
std::string fish_words(std::string_view command, std::string_view option) {
  for (Choice const& choice : choices())
    if (choice.option == option && (choice.command == command || choice.command.empty()))
      return " -x -a " + quoted(choice.words);
  return {};
}

std::string fish_options(CLI::App const& command, std::string const& condition) {
  std::string text;
  for (CLI::Option const* const option : options_of(command)) {
    std::string const& name = option->get_lnames().front();
    text +=
        fmt::format("complete -c adamant{} -l {} -d {}{}\n", condition, name,
                    quoted(option->get_description()), fish_words(command.get_name(), "--" + name));
  }
  return text;
}

std::string fish(CLI::App const& app) {
  std::string text = fish_options(app, "");
  for (CLI::App const* const command : app.get_subcommands({})) {
    std::string const& name = command->get_name();
    text += fmt::format("complete -c adamant -n __fish_use_subcommand -f -a {} -d {}\n", name,
                        quoted(command->get_description()));
    std::string const condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", name);
    text += fish_options(*command, condition);
    if (std::string const words = fish_words(name, ""); !words.empty())
      text += fmt::format("complete -c adamant{}{}\n", condition, words);
  }
  return text;
}

}  // namespace

std::vector<std::string> option_names(CLI::App const& command) {
  std::vector<std::string> names;
  for (CLI::Option const* const option : options_of(command))
    names.push_back("--" + option->get_lnames().front());
  return names;
}

namespace {

std::string completion_of(CLI::App const& app, std::string_view shell) {
  if (shell == "fish") return fish(app);
  // zsh reads bash's way of completing once it is told to.
  return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") + bash(app);
}

void expect_shell(Arguments& arguments) {
  std::string const& shell = arguments.word;
  if (std::ranges::count(completed_shells, shell) == 0)
    throw CLI::ValidationError("SHELL", "`" + shell + "` is none of " +
                                            list_words(completed_shells) +
                                            suggest(shell, completed_shells));
}

Status print_completion(Arguments const& arguments) {
  Arguments nobody_gives;
  CLI::App app;
  describe_command_line(app, nobody_gives);
  print(arguments, completion_of(app, arguments.word));
  return Status::met;
}

}  // namespace

Command const completion_command{
    .name = "completion",
    .text = "Print a script by which a shell completes adamant",
    .example = "source <(adamant completion bash)",
    .options = {{"SHELL", "", "bash, zsh or fish", option::word<&Arguments::word>, Times::once}},
    .check = expect_shell,
    .run = print_completion};

}  // namespace adamant::scenarios
