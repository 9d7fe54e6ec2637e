#include "scenarios/search/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/language/laws.h"
#include "scenarios/language/words.h"
#include "scenarios/report/json.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

namespace {

/// "ncclAllGather of 16 bytes" and "ncclAllGather of 24 bytes" are one defect, too.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

std::string signature_of(Violation const& violation) {
  std::string_view const law =
      is_about_checkpoints(violation.law) ? "checkpoint" : id_of(violation.law);
  std::string signature = fmt::format("{}|{}", law, likeness_of(violation));
  for (Access const& access : violation.accesses)
    signature += fmt::format("|{} {} {}", without_numbers(access.operation), access.kind,
                             without_numbers(access.buffer));
  return signature;
}

}  // namespace

std::string signature_of(RunResult const& result) {
  auto const symptom = symptom_of(result);
  if (symptom && symptom->outcome == Outcome::violated)
    return signature_of(*violation_of(result, *symptom));
  return fmt::format("{}|{}", name_of(result.outcome), result.reason);
}

std::set<std::string> ingredients_of(Scenario const& scenario) {
  std::set<std::string> ingredients;
  for (auto const& [name, value] : scenario.engine.options) ingredients.insert(name + "=" + value);
  for (Fault const& fault : scenario.faults) ingredients.emplace(word_for(fault.then));
  return ingredients;
}

void Failures::add(Failure failure) {
  std::pair const key(signature_of(failure.result), failure.ingredients);
  auto const found = first_.find(key);
  if (found != first_.end() && found->second.case_index <= failure.case_index) return;
  first_[key] = std::move(failure);
}

std::vector<Failure> Failures::take() const {
  std::vector<Failure> failures;
  for (auto const& [key, failure] : first_) failures.push_back(failure);
  std::sort(failures.begin(), failures.end(), [](Failure const& a, Failure const& b) {
    return std::pair(a.ingredients.size(), a.case_index) <
           std::pair(b.ingredients.size(), b.case_index);
  });
  return failures;
}

Scenario make_replay(Scenario scenario, RunResult const& result) {
  scenario.seed = result.seed;
  scenario.engine.name = result.engine;
  // fifo answers every question the same way again; anything else needs its record.
  bool const recorded = scenario.schedule.strategy != Schedule::Strategy::fifo;
  if (recorded && !result.choices.empty()) scenario.schedule = {.choices = result.choices};
  return scenario;
}

}  // namespace adamant::scenarios
