#include <fmt/format.h>

#include <string>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/program/listings.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

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

}  // namespace

Status bugs_command(Arguments const& arguments) {
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
  outputs.commit(document, "bugs", {});
  return Status::met;
}

}  // namespace adamant::scenarios
