#include "scenarios/explain/explain.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/options.h"
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

Status explain_element(Arguments const& arguments) {
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
  outputs.commit(document);
  return Status::met;
}

}  // namespace

namespace option {

constexpr Option element{"--element", "KEY[INDEX]",
                         "KEY[INDEX], as a violation's tensor and index have it",
                         word<&Arguments::element>, Times::once};
constexpr Option operation{"--operation", "N", "Which entry of the program; default: the last",
                           count<&Arguments::operation, 0, cases_max>};

}  // namespace option

Command const explain_command{
    .name = "explain",
    .text = "The operations and roundings of one value, or of one interval",
    .example = "adamant explain found.yaml --element 'weight/exp_avg[3]' --operation 4",
    .options = {option::scenario_file, option::element, option::operation, option::seed,
                option::json.with("Write it as JSON; - is standard output"), option::engine,
                option::bug, option::peer_timeout, option::trust},
    .run = explain_element};

}  // namespace adamant::scenarios
