#include "scenarios/search/minimize/symptom.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "scenarios/language/laws.h"

namespace adamant::scenarios {

namespace {

/// A law that `pattern` covers, among those that were broken.
std::optional<Symptom> violated(RunResult const& result, std::string_view pattern) {
  for (ViolationReport const& violation : result.violations) {
    if (!matches(pattern, violation.law)) continue;
    return Symptom{.id = violation.law, .first = violation.law == result.violations.front().law};
  }
  return std::nullopt;
}

std::optional<Symptom> violated(RunResult const& result, Expectation const& expected) {
  std::optional<Symptom> symptom;
  if (expected.kind == Expectation::Kind::violates) symptom = violated(result, expected.id);
  if (!symptom) symptom = violated(result, "order.race");
  if (!symptom && !result.violations.empty())
    symptom = Symptom{.id = result.violations.front().law};
  return symptom;
}

/// "/exp_avg" of "w/exp_avg", nothing of "w".
std::string kind_of(std::string const& tensor) {
  auto const slash = tensor.rfind('/');
  return slash == std::string::npos ? "" : tensor.substr(slash);
}

bool is_name(std::string_view part) {
  return part.size() < 2 || part.find_first_of("0123456789/") != std::string_view::npos;
}

/// What another scenario would say as well: of a path the file's name, of a dotted name where it
/// begins and ends, and of either no part with a number or a slash in it or of one letter, as
/// ranks, parameters and files have. "optim.state.unit0.p0.step" is "optim step",
/// "'/tmp/Xy/a/__0_1.distcp'" "distcp".
std::string without_names(std::string_view word) {
  constexpr std::string_view around = "'\"()[],:;.";
  word.remove_prefix(std::min(word.find_first_not_of(around), word.size()));
  word = word.substr(0, word.find_last_not_of(around) + 1);
  if (word.starts_with('/')) word.remove_prefix(word.rfind('/') + 1);
  auto const first_dot = word.find('.');
  if (first_dot == std::string_view::npos) return std::string(is_name(word) ? "" : word);
  std::string parts;
  for (auto const part : {word.substr(0, first_dot), word.substr(word.rfind('.') + 1)})
    if (!is_name(part)) parts.append(parts.empty() ? "" : " ").append(part);
  return parts;
}

std::string words_of(std::string const& text) {
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;)
    if (std::string const said = without_names(word); !said.empty()) words.append(" ").append(said);
  return words;
}

bool is_about(ViolationReport const& violation, Symptom const& symptom) {
  return violation.law == symptom.id &&
         (symptom.said.empty() || what_is_said(violation) == symptom.said);
}

bool is_expected(RunResult const& refused, Expectation const& expected) {
  if (expected.kind != Expectation::Kind::refused) return false;
  return expected.id == "any" || matches(expected.id, refused.reason);
}

}  // namespace

std::optional<Symptom> symptom_of(RunResult const& result, Expectation const& expected) {
  switch (result.outcome) {
    case Outcome::pass:
      return std::nullopt;
    case Outcome::violated:
      return violated(result, expected);
    case Outcome::refused:
      if (is_expected(result, expected)) return std::nullopt;
      break;
    case Outcome::error:
      break;
  }
  return Symptom{.outcome = result.outcome, .id = result.reason};
}

std::string what_is_said(ViolationReport const& violation) {
  std::string said = kind_of(violation.tensor) + words_of(violation.message);
  if (violation.tensor.empty()) said += words_of(violation.actual);
  return said;
}

bool shows(RunResult const& result, Symptom const& symptom) {
  if (result.outcome != symptom.outcome) return false;
  if (symptom.outcome == Outcome::violated) return violation_of(result, symptom) != nullptr;
  return result.reason == symptom.id;
}

ViolationReport const* violation_of(RunResult const& result, Symptom const& symptom) {
  if (symptom.outcome != Outcome::violated || result.violations.empty()) return nullptr;
  auto const begin = result.violations.begin();
  auto const end = symptom.first ? std::next(begin) : result.violations.end();
  auto const found =
      std::find_if(begin, end, [&](ViolationReport const& v) { return is_about(v, symptom); });
  return found == end ? nullptr : &*found;
}

std::string word_of(Symptom const& symptom) {
  return symptom.outcome == Outcome::error ? "error" : symptom.id;
}

}  // namespace adamant::scenarios
