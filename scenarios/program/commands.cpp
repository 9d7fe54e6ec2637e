#include "scenarios/program/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

struct CommandRow {
  Command command;
  char const* text;
  char const* example;
  char const* failure;  // what 1 means, where that happens; the other statuses mean the same
  void (*add_options)(CLI::App& command, Arguments& arguments);
  Status (*execute)(Arguments const& arguments);
};

constexpr CommandRow command_rows[] = {
#define ADAMANT_COMMAND(name, text, example, failure) \
  {Command::name, text, example, failure, add_##name##_options, name##_command},
#include "scenarios/program/commands.inc"
};

/// What stands below the options in a command's help: those of every command, an example, how the
/// command ends.
std::string footer(CommandRow const& row) {
  std::string text = fmt::format(
      "With every command:\n  --quiet, --verbose, --color auto|always|never\n"
      "\nExample:\n  {}\n\nEnds with:\n  0    all is well\n",
      row.example);
  if (*row.failure != '\0') text += fmt::format("  1    {}\n", row.failure);
  text +=
      "  2    bad usage or input, or an output that cannot be written\n"
      "  3    this machine lacks what was asked for\n"
      "  130  interrupted";
  return text;
}

std::string suites_in_lines() {
  std::string text = suites().empty() ? "Nothing is measured here.\n\n" : "Suites:\n";
  for (Suite const& suite : suites()) text += fmt::format("  {:<32} {}\n", suite.name, suite.what);
  return text + "\n";
}

}  // namespace

void add_commands(CLI::App& program, Arguments& arguments) {
  for (CommandRow const& row : command_rows) {
    CLI::App& command = *program.add_subcommand(std::string(name_of(row.command)), row.text);
    command.fallthrough();
    command.footer(
        [&row] { return (row.command == Command::bench ? suites_in_lines() : "") + footer(row); });
    command.callback([&arguments, &row] { arguments.command = row.command; });
    row.add_options(command, arguments);
  }
}

Status execute(Arguments const& arguments) {
  return std::ranges::find(command_rows, arguments.command, &CommandRow::command)
      ->execute(arguments);
}

}  // namespace adamant::scenarios
