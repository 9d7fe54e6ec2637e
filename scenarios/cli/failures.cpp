#include "scenarios/cli/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scenarios/minimize/symptom.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

/// "w/exp_avg" and "p0/exp_avg" are one defect, and so are "w" and "p0".
std::string kind_of(std::string const& tensor) {
  auto const slash = tensor.rfind('/');
  return slash == std::string::npos ? "" : tensor.substr(slash);
}

/// "ncclAllGather of 16 bytes" and "ncclAllGather of 24 bytes" are one defect, too.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

std::string signature_of(ViolationReport const& violation) {
  std::string signature = fmt::format("{}{}|{}", violation.law, kind_of(violation.tensor),
                                      without_numbers(violation.message));
  for (AccessReport const& access : violation.accesses) {
    signature += fmt::format("|{} {}", without_numbers(access.operation), access.kind);
  }
  return signature;
}

}  // namespace

std::string signature_of(RunResult const& result) {
  auto const symptom = symptom_of(result);
  if (symptom && symptom->outcome == Outcome::violated)
    return signature_of(*violation_of(result, *symptom));
  return fmt::format("{}|{}", name_of(result.outcome), result.reason);
}

void Failures::add(std::uint64_t case_index, RunResult result) {
  auto const signature = signature_of(result);
  auto const found = first_.find(signature);
  if (found != first_.end() && found->second.case_index <= case_index) return;
  first_[signature] = {.case_index = case_index, .result = std::move(result)};
}

std::vector<Failure> Failures::take() const {
  std::vector<Failure> failures;
  for (auto const& [signature, failure] : first_) failures.push_back(failure);
  std::sort(failures.begin(), failures.end(),
            [](Failure const& a, Failure const& b) { return a.case_index < b.case_index; });
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
