#include "scenarios/program/commands.h"

#include <CLI/CLI.hpp>

#include "scenarios/explain/explain.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/program/command_options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/report/json.h"
#include "scenarios/runner/admission.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

/// Errors: NoSuchElement, also where the run does not come to what is asked for.
void tell(Arguments const& arguments, OneScenario const& one, StrictJson& results) {
  RunOptions options;
  options.checkpoints = folder_of(one.name);
  auto const told = explain(one.scenario, options, arguments.element, arguments.operation);
  if (told.empty()) throw oracle::NoSuchElement("no operation that was executed makes one");
  for (Explanation const& each : told) {
    print(arguments, describe(each, printable(arguments.element)));
    results.push_back(to_json(each));
  }
}

}  // namespace

void add_explain_options(CLI::App& command, Arguments& arguments) {
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

// Errors: MachineLacks.
Status explain_command(Arguments const& arguments) {
  Outputs outputs(arguments);
  auto const one = read_one_scenario(arguments);
  if (!one) return Status::bad_input;
  if (auto const refusal =
          refuse_to_run(one->scenario, capabilities_of(one->scenario.engine.name))) {
    complain(one->name + ": " + refusal->id + ": " + refusal->message);
    return Status::bad_input;
  }
  auto document = make_document("explain");
  document["element"] = arguments.element;
  document["seed"] = *one->scenario.seed;
  document["results"] = StrictJson::array();
  try {
    tell(arguments, *one, document["results"]);
  } catch (oracle::NoSuchElement const& error) {
    complain(one->name + ": " + arguments.element + ": " + error.what());
    return Status::bad_input;
  }
  outputs.commit(document, "explain", {});
  return Status::met;
}

}  // namespace adamant::scenarios
