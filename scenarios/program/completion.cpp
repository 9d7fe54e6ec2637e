#include "scenarios/program/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace adamant::scenarios {

namespace {

std::vector<CLI::Option const*> options_of(CLI::App const& command) {
  std::vector<CLI::Option const*> options;
  for (CLI::Option const* const option : command.get_options())
    if (!option->get_lnames().empty()) options.push_back(option);
  return options;
}

std::string words_of(CLI::App const& command) {
  return fmt::format("{}", fmt::join(option_names(command), " "));
}

std::string bash(CLI::App const& app) {
  std::string commands;
  std::string cases;
  for (CLI::App const* const command : app.get_subcommands({})) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) words=\"{} {}\" ;;\n", command->get_name(), words_of(*command),
                         words_of(app));
  }
  return fmt::format(R"(_adamant() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} {}" -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}}
complete -o filenames -F _adamant adamant
)",
                     commands, words_of(app), cases);
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

std::string fish_options(CLI::App const& command, std::string const& condition) {
  std::string text;
  for (CLI::Option const* const option : options_of(command))
    text += fmt::format("complete -c adamant{} -l {} -d {}\n", condition,
                        option->get_lnames().front(), quoted(option->get_description()));
  return text;
}

std::string fish(CLI::App const& app) {
  std::string text = fish_options(app, "");
  for (CLI::App const* const command : app.get_subcommands({})) {
    text += fmt::format("complete -c adamant -n __fish_use_subcommand -f -a {} -d {}\n",
                        command->get_name(), quoted(command->get_description()));
    text += fish_options(*command,
                         fmt::format(" -n '__fish_seen_subcommand_from {}'", command->get_name()));
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

std::string completion_of(CLI::App const& app, std::string_view shell) {
  if (shell == "fish") return fish(app);
  // zsh reads bash's way of completing once it is told to.
  return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") + bash(app);
}

}  // namespace adamant::scenarios
