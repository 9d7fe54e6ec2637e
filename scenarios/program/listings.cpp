#include <fmt/format.h>

#include <span>
#include <string>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/help.h"
#include "scenarios/language/yaml/suggest.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

StrictJson to_json(std::span<Meaning const> table) {
  auto array = StrictJson::array();
  for (Meaning const& entry : table) {
    array.push_back({{"id", std::string(entry.id)}, {"meaning", std::string(entry.text)}});
  }
  return array;
}

void print_table(Arguments const& arguments, std::string_view title,
                 std::span<Meaning const> table) {
  print(arguments, fmt::format("{}\n", title));
  for (Meaning const& entry : table)
    print(arguments, fmt::format("  {:<36} {}\n", entry.id, entry.text));
}

StrictJson to_json(bugs::Bug const& bug) {
  return {{"id", std::string(bug.id)},
          {"source", std::string(bug.source)},
          {"symptom", std::string(bug.symptom)},
          {"law", std::string(bug.law)}};
}

void print_bug(Arguments const& arguments, bugs::Bug const& bug) {
  print(arguments, fmt::format("{:<34} {}\n    {}\n", bug.id, bug.law, bug.symptom));
  if (bug.source != "adamant") print(arguments, fmt::format("    {}\n", bug.source));
}

Status list_laws(Arguments const& arguments) {
  Outputs outputs(arguments);
  bool const listed = !arguments.json || !is_standard_output(*arguments.json);
  if (listed && arguments.verbosity != Verbosity::quiet) {
    print_table(arguments, "laws", laws());
    print_table(arguments, "warnings, which fail under --strict", warnings());
    print_table(arguments, "reasons of refusals", refusal_reasons());
  }
  auto document = make_document("laws");
  document["laws"] = to_json(laws());
  document["warnings"] = to_json(warnings());
  document["reasons"] = to_json(refusal_reasons());
  outputs.commit(document);
  return Status::met;
}

Status list_bugs(Arguments const& arguments) {
  if (arguments.bug) {
    print(arguments, bugs::find(*arguments.bug)->diff);
    return Status::met;
  }
  Outputs outputs(arguments);
  bool const listed = !arguments.json || !is_standard_output(*arguments.json);
  auto document = make_document("bugs");
  document["bugs"] = StrictJson::array();
  for (bugs::Bug const& bug : bugs::catalogue()) {
    if (listed && arguments.verbosity != Verbosity::quiet) print_bug(arguments, bug);
    document["bugs"].push_back(to_json(bug));
  }
  outputs.commit(document);
  return Status::met;
}

Status help_on_word(Arguments const& arguments) {
  auto const entries = help_on(arguments.word);
  for (HelpEntry const& entry : entries) print(arguments, text_of(entry));
  if (!entries.empty()) return Status::met;
  auto const known = words_with_help();
  complain("help: no key, value, operation or law is called `" + arguments.word + "`" +
           suggest(arguments.word, known) + "; known: " + list_words(known));
  return Status::bad_input;
}

}  // namespace

Command const laws_command{
    .name = "laws",
    .text = "List the laws",
    .example = "adamant laws --json -",
    .options = {option::json.with("Write them as JSON; - is standard output")},
    .run = list_laws};

Command const bugs_command{
    .name = "bugs",
    .text = "List the catalogue of bugs",
    .example = "adamant bugs --show te_2795",
    .options = {option::json.with("Write it as JSON; - is standard output"),
                {"--show", "ID", "Show how this one is made: its diff to the engine",
                 option::bug_id, Times::at_most_once, "--json"}},
    .run = list_bugs};

Command const help_command{
    .name = "help",
    .text = "Explain a key or an operation of the scenario format",
    .example = "adamant help betas",
    .options = {{"KEY", "", "A key or an operation", option::word<&Arguments::word>, Times::once}},
    .run = help_on_word};

}  // namespace adamant::scenarios
