#include "scenarios/program/footers.h"

#include <fmt/format.h>

#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

namespace {

std::string_view example_of(Command command) {
  switch (command) {
    case Command::run:
      return "adamant run scenarios/ --filter '*offload*' --junit results.xml";
    case Command::fuzz:
      return "adamant fuzz --for 5m --seed 1 --out found";
    case Command::merge:
      return "adamant merge nightly --json ledger.json";
    case Command::minimize:
      return "adamant minimize found.yaml -o small.yaml";
    case Command::hunt:
      return "adamant hunt te_2795 --seed 1";
    case Command::laws:
      return "adamant laws --json -";
    case Command::bugs:
      return "adamant bugs --show te_2795";
    case Command::doctor:
      return "adamant doctor --engine torch";
    case Command::bench:
      return "adamant bench --suite cases_per_second --json rows.json";
    case Command::help:
      return "adamant help betas";
    case Command::explain:
      return "adamant explain found.yaml --element 'weight/exp_avg[3]' --operation 4";
  }
  return {};
}

/// What 1 means; the other statuses mean the same everywhere.
std::string_view failure_of(Command command) {
  switch (command) {
    case Command::run:
      return "a scenario did not end as it expects";
    case Command::fuzz:
    case Command::merge:
      return "something was found";
    case Command::minimize:
      return "the scenario does not fail";
    case Command::hunt:
      return "most searches for a bug missed it";
    case Command::doctor:
      return "something is wrong with the engine";
    case Command::bench:
      return "a suite could not be measured";
    case Command::laws:
    case Command::bugs:
    case Command::help:
    case Command::explain:
      return {};
  }
  return {};
}

std::string suites_in_lines() {
  std::string text = suites().empty() ? "Nothing is measured here.\n\n" : "Suites:\n";
  for (Suite const& suite : suites()) text += fmt::format("  {:<32} {}\n", suite.name, suite.what);
  return text + "\n";
}

}  // namespace

std::string footer_of(Command command) {
  std::string const suites = command == Command::bench ? suites_in_lines() : "";
  return suites + footer(example_of(command), failure_of(command));
}

std::string footer(std::string_view example, std::string_view failure) {
  std::string text = fmt::format(
      "With every command:\n  --quiet, --verbose, --color auto|always|never\n"
      "\nExample:\n  {}\n\nEnds with:\n  0    all is well\n",
      example);
  if (!failure.empty()) text += fmt::format("  1    {}\n", failure);
  text +=
      "  2    bad usage or input, or an output that cannot be written\n"
      "  3    this machine lacks what was asked for\n"
      "  130  interrupted";
  return text;
}

}  // namespace adamant::scenarios
