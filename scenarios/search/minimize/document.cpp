#include "scenarios/search/minimize/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/language/words.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/text.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/seam/versions.h"

namespace adamant::scenarios {

namespace {

std::string what_of(Symptom const& symptom) {
  switch (symptom.outcome) {
    case Outcome::violated:
      return "breaks " + id_of(symptom);
    case Outcome::refused:
      return "is refused: " + id_of(symptom);
    default:
      return "ends its process";
  }
}

/// What is wrong with what, after which operation: without names, which minimising changes.
std::string particulars_of(Violation const& violation, Scenario const& scenario) {
  std::string what = subject_in_words(violation);
  bool const is_weight =
      std::holds_alternative<Tensor>(violation.subject) && what.find('/') == what.npos;
  what = is_weight ? "weight" : what.substr(what.rfind('/') + 1);
  if (what.empty() && !violation.accesses.empty()) what = violation.accesses.front().buffer;
  if (what.empty()) {
    what = name_of(violation.breach);
    std::ranges::replace(what, '_', ' ');
  }
  what = what.substr(0, what.find(" ("));
  auto const at = static_cast<std::size_t>(violation.operation);
  if (violation.operation < 0 || at >= scenario.program.size()) return " with " + what;
  return fmt::format(" with {} at {}", what, word_of(scenario.program[at].action));
}

std::string details_of(RunResult const& result, Symptom const& symptom) {
  Violation const* const violation = violation_of(result, symptom);
  if (violation != nullptr) return describe(*violation, Style{});
  return fmt::format("  {}\n  {}\n", printable(result.reason), printable(message_of(result)));
}

std::string words_of_schedule(Schedule const& schedule) {
  if (schedule.choices) return counted(schedule.choices->size(), "recorded choice");
  std::string words(word_for(schedule.strategy));
  if (schedule.seed) words += fmt::format(", seed {}", *schedule.seed);
  if (schedule.depth) words += fmt::format(", depth {}", *schedule.depth);
  return words;
}

/// Every line as a comment, without the two spaces that reports indent it by.
std::string commented(std::string_view text) {
  std::string comments;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.starts_with("  ")) line.remove_prefix(2);
    if (!line.empty()) comments += fmt::format("# {}\n", line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comments;
}

}  // namespace

std::string stem_of(Scenario const& scenario, Symptom const& symptom) {
  return scenario.bug.value_or(word_of(symptom));
}

Scenario expecting(Scenario scenario, Symptom const& symptom, Violation const* violation) {
  std::string const subject = scenario.bug ? *scenario.bug : "what";
  scenario.name = subject + " " + what_of(symptom);
  if (violation != nullptr) scenario.name += particulars_of(*violation, scenario);
  scenario.about.reset();
  scenario.source.reset();
  scenario.expect = {};
  if (symptom.outcome == Outcome::violated)
    scenario.expect = {.kind = Expectation::Kind::violates, .id = id_of(symptom)};
  if (symptom.outcome == Outcome::refused)
    scenario.expect = {.kind = Expectation::Kind::refused, .id = id_of(symptom)};
  return scenario;
}

std::string named_command(Scenario const& scenario) {
  std::string const& engine = scenario.engine.name;
  return is_command(engine) ? " --engine " + shell_quoted(engine) : "";
}

std::string with_versions(std::string const& engine, std::optional<std::string> const& known) {
  std::string const versions = known ? *known : versions_of(engine);
  return versions.empty() ? engine : fmt::format("{} ({})", engine, versions);
}

Provenance provenance_of(Scenario const& scenario, RunResult const& result, Writer const& writer,
                         std::optional<std::string> const& versions) {
  return {.by = writer,
          .engine = with_versions(scenario.engine.name, versions),
          .schedule = words_of_schedule(scenario.schedule),
          .digest = result.digest,
          .checksum = checksum_of(write_scenario(scenario))};
}

std::string write_document(Scenario const& scenario, RunResult const& result,
                           Symptom const& symptom, std::string const& file_name,
                           Writer const& writer, std::optional<std::string> const& versions) {
  std::string text = commented(details_of(result, symptom));
  text += comments_of(provenance_of(scenario, result, writer, versions));
  text += "# replay: adamant run " + shell_quoted(file_name) + named_command(scenario) + "\n";
  return text + write_scenario(scenario);
}

}  // namespace adamant::scenarios
