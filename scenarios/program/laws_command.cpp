#include <fmt/format.h>

#include <span>

#include "scenarios/language/laws.h"
#include "scenarios/program/listings.h"
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

}  // namespace

Status laws_command(Arguments const& arguments) {
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
  outputs.commit(document, "laws", {});
  return Status::met;
}

}  // namespace adamant::scenarios
