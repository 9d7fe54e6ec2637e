// What a search found, minimised: failures in, small scenarios out, one for each defect that
// minimising can tell apart. Used by `fuzz`, and by whoever else searches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenarios/report/provenance.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/minimize_in_workers.h"

namespace adamant::scenarios {

/// One defect: a scenario that expects it, and its run.
struct Finding {
  std::uint64_t case_index = 0;  // of the search
  Scenario scenario;
  RunResult result;
  Symptom symptom;
  std::uint64_t runs = 0;                    // that minimising it took; 0: it was not minimised
  bool complete = true;                      // false: minimising it took more runs than it may
  std::optional<std::string> versions = {};  // of its engine; absent: it is asked

  bool is_minimized() const { return runs > 0; }
};

/// REQUIRES: attempt.end is `minimized`.
Finding finding_of(MinimizeAttempt attempt, std::uint64_t case_index);

/// The scenario of what a search found, minimised: `scenario` expects the law that is to be kept.
/// What cannot be minimised stays as it was found, with a note: a process that answers too late,
/// what this machine lacks, a failure that a process of its own does not show. What its file says
/// is run once more; that it does not repeat is a note.
Finding minimize_found(Failure const& failure, Scenario const& scenario,
                       WorkerOptions const& options);

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

/// A failure as a finding that was not minimised, with a note that says so.
Finding as_found(Failure const& failure, Scenario scenario, std::string note);
/// The same where there is no time to minimise it. Its file is run once, as minimize_found() does.
Finding as_found(Failure const& failure, Scenario const& scenario, RunOptions const& options);

/// Names of findings that are told together, with the short lines of their files.
using Names = std::map<std::string, std::set<std::string>>;

/// Adds to its name what tells it from an earlier one that is called alike: a line of its file
/// which that one lacks, or else a number.
void tell_apart(Finding& finding, Names& names);

/// What failures come to, as they are given. Those that become the same scenario are one finding.
/// One that looks like another which has been minimised is not minimised itself, unless it happened
/// without an engine's option that the smallest scenario of the other still has: then it is another
/// defect. An option that the engine ignores makes no second finding: where the scenario goes wrong
/// alike without it, and so as another finding, it is that one.
class Findings {
 public:
  using ScenarioOf = std::function<Scenario(Failure const&)>;
  /// Is told of each finding as soon as it is minimised, with the failure that it explains.
  using Take = std::function<void(Failure const&, Finding const&)>;

  Findings(
      ScenarioOf scenario_of, WorkerOptions options, Take take = [](auto&, auto&) {})
      : scenario_of_(std::move(scenario_of)),
        options_(std::move(options)),
        take_(std::move(take)) {}

  /// Is it one that has been minimised?
  bool explain(Failure const& failure) const;
  /// Minimises a failure that nothing explains; `left` others may follow.
  void minimize(Failure const& failure, std::uint64_t left = 0);
  /// Takes a failure that nothing explains as it was found.
  void add(Failure const& failure, Finding found);
  /// The lightest first.
  std::vector<Finding> sorted() const;

 private:
  ScenarioOf scenario_of_;
  WorkerOptions options_;
  Take take_;
  std::vector<Finding> findings_ = {};
  std::vector<Explained> explained_ = {};
  std::set<std::string> known_ = {};  // scenarios, as text
  Names names_ = {};
  std::uint64_t runs_ = 0;
};

/// Writes `STEM.yaml`, or `STEM-2.yaml`, … where another scenario has the name already; the bug or
/// the law where no stem is given. Makes the directory.
///
/// Errors: CannotWrite; MachineLacks, as provenance_of() of minimize/document.h.
std::filesystem::path write_finding(std::filesystem::path const& directory, std::string const& stem,
                                    Finding const& finding, Writer const& writer);
std::filesystem::path write_finding(std::filesystem::path const& directory, Finding const& finding,
                                    Writer const& writer);

}  // namespace adamant::scenarios
