#include "scenarios/search/minimize/symptom.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "scenarios/language/laws.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

/// A law that `pattern` covers, among those that were broken.
std::optional<Symptom> violated(RunResult const& result, std::string_view pattern) {
  for (Violation const& violation : result.violations) {
    if (!matches(pattern, violation.law)) continue;
    return Symptom{.law = violation.law, .first = violation.law == result.violations.front().law};
  }
  return std::nullopt;
}

std::optional<Symptom> violated(RunResult const& result, Expectation const& expected) {
  std::optional<Symptom> symptom;
  if (expected.kind == Expectation::Kind::violates) symptom = violated(result, expected.id);
  if (!symptom) symptom = violated(result, id_of(Law::order_race));
  if (!symptom && !result.violations.empty())
    symptom = Symptom{.law = result.violations.front().law};
  return symptom;
}

/// "ncclAllGather of 16 bytes" and "ncclAllGather of 24 bytes" are one defect, too.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
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

std::string said_words(std::string const& text) {
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;)
    if (std::string const said = without_names(word); !said.empty()) words.append(" ").append(said);
  return words;
}

/// What kind of thing it is about, without its name or number.
struct KindOf {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Tensor const& tensor) const {
    return std::string(name_of(tensor.kind)) + (tensor.whole ? " whole" : "");
  }
  std::string operator()(StepCount const&) const { return "step"; }
  std::string operator()(GroupSettings const&) const { return "settings"; }
  std::string operator()(ScalingNumber number) const {
    return "scaling " + std::to_string(static_cast<int>(number));
  }
  std::string operator()(Buffers const& buffers) const {
    return std::string(name_of(buffers.purpose));
  }
  std::string operator()(Call const& call) const {
    return call.verb + " " + std::to_string(static_cast<int>(call.ending));
  }
  std::string operator()(Named const& named) const { return said_words(named.name); }
  std::string operator()(DamagedFiles const& files) const {
    std::string kinds;
    for (FileDamage const& damage : files) kinds.append(word_for(damage.how)).append(" ");
    return kinds;
  }
};

/// Where settings differ: which of them does first. Of memory: whose it is.
std::string difference_of(Violation const& violation) {
  if (auto const* memory = std::get_if<Allocated>(&violation.actual))
    return memory->on_host ? "pinned" : "device";
  auto const difference = setting_difference(violation);
  if (!difference) return "";
  return fmt::format("{} {}", difference->key, difference->beta);
}

/// A simulated world speaks of what its accesses name already.
bool is_said_by_engine(Violation const& violation) {
  return !is_of_world(violation.breach);
}

/// What a load gets wrong is one thing, whichever of the laws about checkpoints its faults make of
/// it: a crash that it does not need may go.
bool is_about(Violation const& violation, Symptom const& symptom) {
  if (symptom.likeness.empty()) return violation.law == symptom.law;
  bool const alike =
      violation.law == symptom.law ||
      (symptom.law && is_about_checkpoints(*symptom.law) && is_about_checkpoints(violation.law));
  return alike && likeness_of(violation) == symptom.likeness;
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
  return Symptom{.outcome = result.outcome, .reason = result.reason};
}

std::string likeness_of(Violation const& violation) {
  std::string const said =
      is_said_by_engine(violation) ? said_words(violation.reason + " " + violation.text) : "";
  return fmt::format("{}|{}|{}|{}", name_of(violation.breach),
                     std::visit(KindOf{}, violation.subject), difference_of(violation), said);
}

std::string likeness_of_end(Outcome outcome, std::string const& reason) {
  if (outcome != Outcome::error) return reason;
  if (reason.find(no_json_number) != std::string::npos) return no_json_number;
  std::istringstream stream(reason);
  std::string alike = said_words(reason);
  for (std::string before, word; stream >> word; before = word)
    if (before == "signal" || before == "status") alike.append(" ").append(word);
  return alike;
}

std::string alike_by(RunResult const& result, Symptom const& symptom) {
  Violation const* const violation = violation_of(result, symptom);
  if (violation == nullptr) return "";
  std::string alike = likeness_of(*violation);
  for (Access const& access : violation->accesses)
    alike += fmt::format("|{} {} {}", without_numbers(access.operation), access.kind,
                         without_numbers(access.buffer));
  return alike;
}

bool shows(RunResult const& result, Symptom const& symptom) {
  if (result.outcome != symptom.outcome) return false;
  if (symptom.outcome == Outcome::violated) return violation_of(result, symptom) != nullptr;
  return likeness_of_end(result.outcome, result.reason) ==
         likeness_of_end(symptom.outcome, symptom.reason);
}

Violation const* violation_of(RunResult const& result, Symptom const& symptom) {
  if (symptom.outcome != Outcome::violated || result.violations.empty()) return nullptr;
  auto const begin = result.violations.begin();
  auto const end = symptom.first ? std::next(begin) : result.violations.end();
  auto const found =
      std::find_if(begin, end, [&](Violation const& v) { return is_about(v, symptom); });
  return found == end ? nullptr : &*found;
}

std::string id_of(Symptom const& symptom) {
  return symptom.law ? std::string(id_of(*symptom.law)) : symptom.reason;
}

std::string word_of(Symptom const& symptom) {
  return symptom.outcome == Outcome::error ? "error" : id_of(symptom);
}

}  // namespace adamant::scenarios
