#include "scenarios/search/failures.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/laws.h"
#include "scenarios/language/words.h"
#include "scenarios/report/json.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

std::string signature_of(RunResult const& result) {
  auto const symptom = symptom_of(result);
  if (symptom && symptom->outcome == Outcome::violated) {
    Law const law = violation_of(result, *symptom)->law;
    std::string const alike = alike_by(result, *symptom);
    if (is_about_checkpoints(law)) return std::string(checkpoint_signatures) + alike;
    return fmt::format("{}|{}", id_of(law), alike);
  }
  return fmt::format("{}|{}", name_of(result.outcome),
                     likeness_of_end(result.outcome, result.reason));
}

std::set<std::string> ingredients_of(Scenario const& scenario) {
  std::set<std::string> ingredients;
  for (auto const& [name, value] : scenario.engine.options) ingredients.insert(name + "=" + value);
  for (Fault const& fault : scenario.faults) ingredients.emplace(word_for(fault.then));
  return ingredients;
}

bool Failures::add(Failure failure) {
  std::pair const key(signature_of(failure.result), failure.ingredients);
  auto const found = first_.find(key);
  bool const is_new = found == first_.end();
  if (is_new || failure.case_index < found->second.case_index) first_[key] = std::move(failure);
  return is_new;
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
