// What a search found, minimised: failures in, small scenarios out, one for each defect that
// minimising can tell apart. Used by `fuzz`, and by whoever else searches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/report/provenance.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/minimize_isolated.h"

namespace adamant::scenarios {

/// One defect: a scenario that expects it, and its run.
struct Finding {
  std::uint64_t case_index = 0;  // of the search
  Scenario scenario;
  RunResult result;
  Symptom symptom;
  std::uint64_t runs = 0;  // that minimising it took; 0: it was not minimised
};

/// REQUIRES: attempt.end is `minimized`.
Finding finding_of(MinimizeAttempt attempt, std::uint64_t case_index);

/// The scenario of what a search found, minimised: `scenario` expects the law that is to be kept.
/// What cannot be minimised stays as it was found, with a note: a process that answers too late,
/// what this machine lacks, a failure that a process of its own does not show. What its file says
/// is run once more; that it does not repeat is a note.
Finding minimize_found(Failure const& failure, Scenario const& scenario,
                       IsolatedOptions const& options);

/// A failure that has been minimised: what it looked like, and the ingredients (failures.h) that
/// its smallest scenario still has.
struct Explained {
  std::string signature;
  std::set<std::string> ingredients;

  /// Is one that looks so and has these ingredients the same defect?
  bool covers(std::string const& signature_seen, std::set<std::string> const& has) const;
};

/// Which of two findings comes first in lists: one of the law that its bug is catalogued for, then
/// the lighter.
bool is_told_before(Finding const& a, Finding const& b);

/// Minimises failures from the scenarios that `scenario_of` gives for their cases; the lightest
/// result comes first. Failures that become the same scenario are one finding. One that looks like
/// another which has been minimised is not minimised itself, unless it happened without an engine's
/// option that the smallest scenario of the other still has: then it is another defect. An option
/// that the engine ignores makes no second finding: where the scenario goes wrong alike without it,
/// and so as another finding, it is that one.
///
/// `take` is told of each finding as soon as it is minimised, with the failure that it explains.
std::vector<Finding> minimize_all(
    std::vector<Failure> const& failures,
    std::function<Scenario(Failure const&)> const& scenario_of, IsolatedOptions const& options,
    std::function<void(Failure const&, Finding const&)> const& take = [](auto const&, auto const&) {
    });

/// A failure as a finding that was not minimised, with a note that says so.
Finding as_found(Failure const& failure, Scenario scenario, std::string note);

/// Writes `STEM.yaml`, or `STEM-2.yaml`, … where another scenario has the name already; the bug or
/// the law where no stem is given. Makes the directory.
///
/// Errors: CannotWrite; MachineLacks, as provenance_of() of minimize/document.h.
std::filesystem::path write_finding(std::filesystem::path const& directory, std::string const& stem,
                                    Finding const& finding, Writer const& writer);
std::filesystem::path write_finding(std::filesystem::path const& directory, Finding const& finding,
                                    Writer const& writer);

}  // namespace adamant::scenarios
