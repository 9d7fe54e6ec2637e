// What is known of an engine, as it shows on this machine: the scenarios of each defect were run,
// and a failure that looks like one of them is run again with the way around it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scenarios/report/progress.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/failures.h"
#include "scenarios/search/known_defects.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

/// A run of a scenario, wherever it is made; `met` says whether it ended well.
using RunOne = std::function<RunResult(Scenario const&)>;

/// What is left of a failure when what is known is worked around.
struct Unmasked {
  std::set<std::string> known = {};  // names of the defects that were met
  EngineOptions avoided = {};        // that the last run had beside the scenario's own
  RunResult result = {};             // of the last run
  bool fails = true;                 // in a way that is not known
};

class KnownHere {
 public:
  /// Nothing is known.
  KnownHere() = default;
  /// Runs the scenarios of `defects` on the engine, as run_isolated() does (minimize_in_workers.h).
  /// What an engine does not offer is not known of it. `progress` is told how many have run.
  ///
  /// Errors: MachineLacks.
  KnownHere(
      std::vector<KnownDefect> defects, SearchEngine const& engine, RunOptions const& options,
      int processes, std::function<void(HowFar const&)> const& progress = [](HowFar const&) {});

  bool empty() const { return shown_.empty(); }
  /// All that is known, whether or not it shows here.
  std::span<KnownDefect const> defects() const { return defects_; }
  /// Names of those that no scenario of theirs shows here: another version, or another machine.
  std::vector<std::string> not_shown() const;
  /// Names of those that show here, and were known of other versions.
  std::vector<std::string> of_other_versions() const;

  /// Works around one defect after the other that the failure looks like, as long as the run then
  /// ends otherwise. One without a way around is met where a scenario of its that looks so is
  /// inside, in its own types or in those of the failure.
  Unmasked unmask(Scenario const& scenario, RunResult failed, RunOne const& run) const;

  /// Is the failure of `scenario` one of them, so that what is behind it is another one or nothing?
  bool is_known(Scenario const& scenario, RunResult const& failed, RunOne const& run) const;

 private:
  struct Shown {
    std::size_t defect;
    Scenario scenario;
    std::string signature;
  };
  struct WayAround;

  /// Does a failure look like what this scenario shows, with the faults that it shows it with?
  bool looks_like(Shown const& one, Scenario const& scenario, std::string const& signature,
                  RunOne const& run) const;
  /// Does this scenario show what looks so in the types, scale and world of the failure?
  bool shows_there(Shown const& one, Scenario const& scenario, std::string const& signature,
                   RunOne const& run) const;
  /// Does a load get something wrong or never end, or a save fail, as here after the faults of this
  /// scenario or after its saves over older ones, whose files are those of the other? Any look will
  /// do.
  bool spoils_files(Shown const& one, Scenario const& scenario, std::string const& signature) const;
  /// The defects that a failure may be, those that it looks like first; none that it avoids.
  std::vector<std::size_t> candidates(Scenario const& scenario, RunResult const& failed,
                                      RunOne const& run) const;
  /// The first of `defects` without which the run ends otherwise; or all of them, where only that
  /// does.
  std::optional<WayAround> find_way_around(std::vector<std::size_t> const& defects,
                                           Scenario const& scenario, RunResult const& failed,
                                           RunOne const& run) const;

  /// Of a failure that looks like none of them: those whose scenarios are inside, or that its
  /// options choose, and without which nothing is left of it. One alone, where that is enough.
  std::optional<WayAround> find_cause(Scenario const& scenario, RunOne const& run) const;

  std::vector<KnownDefect> defects_;
  std::vector<Shown> shown_;
  mutable std::vector<std::pair<Scenario, std::string>> tried_;  // what shows_there() ran, and how
                                                                 // it looked
  std::string versions_;                                         // of the engine
  bool interrupted_ = false;                                     // before all scenarios had run
};

/// Has the engine all of these options, with these values?
bool is_offered(EngineOptions const& options, Capabilities const& engine);

/// The options that keep scenarios from meeting any of these defects, as far as the engine has
/// them. One that is for several is needed as often as for any of them.
std::vector<UsualOption> ways_around(std::span<KnownDefect const> defects,
                                     Capabilities const& engine);

}  // namespace adamant::scenarios
