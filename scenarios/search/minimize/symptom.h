// What minimising has to keep: how a run failed. It looks at results alone and runs nothing.
#pragma once

#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A run that failed in this way fails again if a later one does.
struct Symptom {
  Outcome outcome = Outcome::violated;
  std::optional<Law> law = {};  // that was broken
  std::string reason = {};      // of a refusal; or how the process died
  bool first = true;            // of a law: it is what the run saw first, not a consequence of that
  std::string likeness = {};    // of a law: likeness_of its violation; empty: whatever it is

  friend bool operator==(Symptom const&, Symptom const&) = default;
};

/// How `result` failed, or nothing where it passed or was refused as `expected`. A violation is a
/// failure whether or not it is expected. Of several the expected one counts, then an order.race,
/// which explains whatever else went wrong in its run, then the first.
std::optional<Symptom> symptom_of(RunResult const& result, Expectation const& expected = {});

/// What violations of one law look alike by: how it was broken and what kind of thing it is about,
/// apart from ranks, parameters and indices. Where an engine said something, its words belong to it
/// but for numbers and names: "p0/exp_avg" and "w/exp_avg" look alike, "Missing key: optim.a.step"
/// and "Missing key: optim.b.step", too. A text to compare and not to read.
std::string likeness_of(Violation const& violation);

/// The same of a run that ended otherwise than by a violation. Of what is said of an engine's
/// process names and numbers do not count, but for a signal's or a status; reasons of refusals are
/// words of a list.
std::string likeness_of_end(Outcome outcome, std::string const& reason);

/// The same with the operations and buffers of its accesses, without numbers, of the violation that
/// `symptom` is about; empty where it is about none.
std::string alike_by(RunResult const& result, Symptom const& symptom);

/// Did this run fail in that way?
bool shows(RunResult const& result, Symptom const& symptom);

/// The violation that `symptom` is about; none where it is no violation.
Violation const* violation_of(RunResult const& result, Symptom const& symptom);

/// "order.race", "out_of_memory", how a process died: what it is known by.
std::string id_of(Symptom const& symptom);

/// The same in one word, for names of files: a death is "error".
std::string word_of(Symptom const& symptom);

}  // namespace adamant::scenarios
