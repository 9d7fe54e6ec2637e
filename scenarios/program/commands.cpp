#include "scenarios/program/commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "scenarios/bench/suite.h"
#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/command_options.h"
#include "scenarios/program/completion.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t cases_max = std::uint64_t{1} << 53U;

/// What stands below the options in a command's help: those of every command, an example, how the
/// command ends.
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

std::string suites_in_lines() {
  std::string text = suites().empty() ? "Nothing is measured here.\n\n" : "Suites:\n";
  for (Suite const& suite : suites()) text += fmt::format("  {:<32} {}\n", suite.name, suite.what);
  return text + "\n";
}

/// What a command's help says of it.
struct Described {
  Command command;
  char const* text;
  char const* example;
  char const* failure = "";  // what 1 means, where that happens; the other statuses mean the same
};

CLI::App& add_command(CLI::App& program, Arguments& arguments, Described const& described) {
  Command const command = described.command;
  CLI::App* const added = program.add_subcommand(std::string(name_of(command)), described.text);
  added->fallthrough();
  added->footer([described] {
    std::string const suites = described.command == Command::bench ? suites_in_lines() : "";
    return suites + footer(described.example, described.failure);
  });
  added->callback([&arguments, command] { arguments.command = command; });
  return *added;
}

void add_run(CLI::App& program, Arguments& arguments) {
  CLI::App& command =
      add_command(program, arguments,
                  {.command = Command::run,
                   .text = "Run scenario files, or all in a directory (recursively)",
                   .example = "adamant run scenarios/ --filter '*offload*' --junit results.xml",
                   .failure = "a scenario did not end as it expects"});
  command.add_option("PATH", arguments.paths, "Files and directories; - is the standard input")
      ->required();
  CommandOptions const options(command, arguments);
  options.add_selection();
  options.add_strict();
  options.add_known();
  options.add_schedules("Also run each under N schedules, random and pct");
  options.add_path("--dump", arguments.dump, "Write inputs and states as safetensors");
  options.add_script();
  options.add_path("--trace", arguments.trace,
                   "Write a Perfetto / Chrome trace in simulated time; one scenario, engine sim");
  options.add_html();
  options.add_common();
  options.add_engine();
  options.add_trust();
  options.add_dry_run();
}

/// How much is searched.
void add_extent(CommandOptions const& options, Arguments& arguments, char const* cases,
                char const* time) {
  options.add_count("--cases", {1, cases_max}, cases,
                    [&arguments](std::uint64_t count) { arguments.cases = count; });
  options.add_time(time);
}

/// What every search has behind its own.
void add_end_of_search(CommandOptions const& options) {
  options.add_html();
  options.add_shard();
  options.add_common();
}

void add_fuzz(CLI::App& program, Arguments& arguments) {
  CLI::App& command = add_command(program, arguments,
                                  {.command = Command::fuzz,
                                   .text = "Generate scenarios, run them, minimise what fails",
                                   .example = "adamant fuzz --for 5m --seed 1 --out found",
                                   .failure = "something was found"});
  CommandOptions const options(command, arguments);
  add_extent(options, arguments, "How many; default 1000", "How long, such as 60s or 5m");
  options.add_count("--skip", {0, cases_max}, "Start at case number N of the seed",
                    [&arguments](std::uint64_t skip) { arguments.skip = skip; });
  options.add_path("--out", arguments.out, "Directory for what fails");
  command.add_flag("--first", arguments.first, "End at the first failure that is not known");
  options.add_known();
  options.add_strict();
  options.add_path("--campaign", arguments.campaign,
                   "Directory that keeps all that was searched and found: go on there");
  command.get_option("--campaign")->excludes("--skip");
  add_end_of_search(options);
  options.add_engine();
}

void add_merge(CLI::App& program, Arguments& arguments) {
  CLI::App& command =
      add_command(program, arguments,
                  {.command = Command::merge,
                   .text = "What the shards of a campaign have found and done together",
                   .example = "adamant merge nightly --json ledger.json",
                   .failure = "something was found"});
  command.add_option("DIR", arguments.paths, "What --campaign of fuzz named, on each machine")
      ->required();
  CommandOptions const options(command, arguments);
  options.add_path("--out", arguments.out, "Directory for what fails, each defect once");
  options.add_html();
  options.add_outputs();
}

void add_hunt(CLI::App& program, Arguments& arguments) {
  CLI::App& command = add_command(program, arguments,
                                  {.command = Command::hunt,
                                   .text = "How fast does random search find each catalogued bug",
                                   .example = "adamant hunt te_2795 --seed 1",
                                   .failure = "most searches for a bug missed it"});
  command.add_option("BUG", arguments.bugs, "Only these; default: all")->option_text("BUG");
  command.parse_complete_callback([&arguments] {
    if (arguments.mutants && !bugs::is_of_mutants()) return;  // who has them knows them
    for (std::string const& id : arguments.bugs) check_bug("BUG", id);
  });
  CommandOptions const options(command, arguments);
  options.add_count(
      "--searches", {1, 1000}, "How often each is searched for; default 5",
      [&arguments](std::uint64_t count) { arguments.searches = static_cast<int>(count); });
  add_extent(options, arguments, "At most so many cases a search",
             "At most so long a search; default 60s");
  command.add_flag("--mutants", arguments.mutants,
                   "Machine-made mistakes instead: does anything notice them? Needs "
                   "adamant-mutants");
  options.add_path("--out", arguments.out,
                   "Directory for a minimised scenario of each that was found");
  add_end_of_search(options);
}

void add_minimize(CLI::App& program, Arguments& arguments) {
  CLI::App& command =
      add_command(program, arguments,
                  {.command = Command::minimize,
                   .text = "Reduce a failing scenario to a small one that fails alike",
                   .example = "adamant minimize found.yaml -o small.yaml",
                   .failure = "the scenario does not fail"});
  command.add_option("FILE", arguments.paths, "A scenario file")->required()->expected(1);
  CommandOptions const options(command, arguments);
  options.add_path("-o,--out", arguments.out, "Where the result goes; default: standard output");
  options.add_schedules("Look for the failure under N schedules more, random and pct");
  options.add_script();
  options.add_html();
  options.add_common();
  options.add_engine();
  options.add_trust();
}

void add_explain(CLI::App& program, Arguments& arguments) {
  CLI::App& command = add_command(
      program, arguments,
      {.command = Command::explain,
       .text = "The operations and roundings of one value, or of one interval",
       .example = "adamant explain found.yaml --element 'weight/exp_avg[3]' --operation 4"});
  command.add_option("FILE", arguments.paths, "A scenario file")->required()->expected(1);
  CommandOptions const options(command, arguments);
  command
      .add_option("--element", arguments.element,
                  "KEY[INDEX], as a violation's tensor and index have it")
      ->option_text("KEY[INDEX]")
      ->required();
  options.add_count("--operation", {0, cases_max}, "Which entry of the program; default: the last",
                    [&arguments](std::uint64_t entry) {
                      arguments.operation = static_cast<std::int64_t>(entry);
                    });
  options.add_seed();
  options.add_path("--json", arguments.json, "Write it as JSON; - is standard output");
  options.add_engine();
  options.add_trust();
}

void add_listings(CLI::App& program, Arguments& arguments) {
  CLI::App& laws = add_command(
      program, arguments,
      {.command = Command::laws, .text = "List the laws", .example = "adamant laws --json -"});
  CommandOptions(laws, arguments)
      .add_path("--json", arguments.json, "Write them as JSON; - is standard output");
  CLI::App& bugs = add_command(program, arguments,
                               {.command = Command::bugs,
                                .text = "List the catalogue of bugs",
                                .example = "adamant bugs --show te_2795"});
  CommandOptions const options(bugs, arguments);
  options.add_path("--json", arguments.json, "Write it as JSON; - is standard output");
  options.add_bug_to_show();
}

void add_help(CLI::App& program, Arguments& arguments) {
  add_command(program, arguments,
              {.command = Command::help,
               .text = "Explain a key or an operation of the scenario format",
               .example = "adamant help betas"})
      .add_option("KEY", arguments.word, "A key or an operation")
      ->required();
}

void add_doctor(CLI::App& program, Arguments& arguments) {
  CommandOptions const options(
      add_command(program, arguments,
                  {.command = Command::doctor,
                   .text = "What this machine has, or what is wrong with an engine",
                   .example = "adamant doctor --engine torch",
                   .failure = "something is wrong with the engine"}),
      arguments);
  options.add_examined_engine();
  options.add_path("--json", arguments.json, "Write what was found as JSON");
}

void add_bench(CLI::App& program, Arguments& arguments) {
  CLI::App& command =
      add_command(program, arguments,
                  {.command = Command::bench,
                   .text = "Measure",
                   .example = "adamant bench --suite cases_per_second --json rows.json",
                   .failure = "a suite could not be measured"});
  command.add_option("--suite", arguments.suites, "Only this one; can be repeated")
      ->option_text("NAME")
      ->expected(1)
      ->take_all();
  command.add_flag("--full", arguments.full, "Also what takes minutes");
  CommandOptions(command, arguments).add_outputs();
}

/// Says all that it has to say while the line is parsed, like --help.
void add_completion(CLI::App& program) {
  CLI::App* const command =
      program.add_subcommand("completion", "Print a script by which a shell completes adamant");
  auto const print = [&program](std::string const& shell) {
    if (std::ranges::count(completed_shells, shell) == 0)
      throw CLI::ValidationError("SHELL: `" + shell + "` is none of " +
                                 list_words(completed_shells) + suggest(shell, completed_shells));
    throw EndOfProgram{.status = 0, .text = completion_of(program, shell)};
  };
  command->add_option_function<std::string>("SHELL", print, "bash, zsh or fish")->required();
  command->footer(footer("source <(adamant completion bash)", ""));
}

}  // namespace

void add_commands(CLI::App& program, Arguments& arguments) {
  add_run(program, arguments);
  add_fuzz(program, arguments);
  add_merge(program, arguments);
  add_hunt(program, arguments);
  add_minimize(program, arguments);
  add_explain(program, arguments);
  add_listings(program, arguments);
  add_help(program, arguments);
  add_doctor(program, arguments);
  add_completion(program);
  add_bench(program, arguments);
}

}  // namespace adamant::scenarios
