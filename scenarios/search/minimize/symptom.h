// What a reduction has to keep: how a run failed. It looks at results alone and runs nothing.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A run that failed in this way fails again if a later one does.
struct Symptom {
  Outcome outcome = Outcome::violated;
  std::string id;         // the law, the reason of the refusal, or how the process died
  bool first = true;      // of a law: it is what the run saw first, not one of its consequences
  std::string said = {};  // of a law: what_is_said of its violation; empty: whatever is said

  friend bool operator==(Symptom const&, Symptom const&) = default;
};

/// How `result` failed, or nothing where it passed or was refused as `expected`. A violation is a
/// failure whether or not it is expected. Of several the expected one counts, then an order.race,
/// which explains whatever else went wrong in its run, then the first.
std::optional<Symptom> symptom_of(RunResult const& result, Expectation const& expected = {});

/// What a violation says, apart from numbers and from names of ranks, parameters and files: the
/// same for "w/exp_avg" and for "p0/exp_avg", another for "w". Where no tensor is concerned, what
/// happened belongs to it.
std::string what_is_said(ViolationReport const& violation);

/// Did this run fail in that way?
bool shows(RunResult const& result, Symptom const& symptom);

/// The violation that `symptom` is about; none where it is no violation.
ViolationReport const* violation_of(RunResult const& result, Symptom const& symptom);

/// "order.race", "out_of_memory", "error": the word for it.
std::string word_of(Symptom const& symptom);

}  // namespace adamant::scenarios
