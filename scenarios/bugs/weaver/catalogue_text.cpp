#include "scenarios/bugs/weaver/catalogue_text.h"

#include <string_view>

#include "scenarios/bugs/weaver/lines.h"
#include "scenarios/bugs/weaver/weave.h"
#include "scenarios/bugs/weaver/woven_text.h"

namespace adamant::bugs {

namespace {

std::string entry(BugFile const& bug) {
  std::string text = "    {.id = " + as_literal(bug.id) + ",\n     .law = " + as_literal(bug.law) +
                     ",\n     .source = " + as_literal(bug.source) +
                     ",\n     .symptom = " + as_literal(bug.symptom) + ",\n     .diff =";
  for (std::string_view const line : lines_of(bug.text)) {
    text += "\n         " + as_literal(line);
    text.insert(text.size() - 1, "\\n");
  }
  return text + "},\n";
}

}  // namespace

std::string catalogue_text(std::vector<BugFile> const& bugs) {
  bool const of_harness = !bugs.empty() && is_of_harness(bugs.front().hunks.front().target);
  std::string text =
      "// Made by adamant_weave of the files scenarios/bugs/*.diff.\n"
      "#include \"scenarios/bugs/catalogue.h\"\n\n"
      "namespace adamant::bugs {\n\n"
      "std::span<Bug const> catalogue" +
      std::string(of_harness ? "_of_harness" : "") +
      "() {\n"
      "  static constexpr Bug bugs[] = {\n";
  for (BugFile const& bug : bugs) text += entry(bug);
  return text + "  };\n  return bugs;\n}\n\n}  // namespace adamant::bugs\n";
}

}  // namespace adamant::bugs
