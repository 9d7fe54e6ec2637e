// Minimising as commands do it: every candidate runs apart from this process, so that a crash, a
// hang or anything left over from another run takes no part in what is found. Used by `fuzz`,
// `minimize` and `hunt`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/report/progress.h"
#include "scenarios/runner/run.h"
#include "scenarios/search/minimize/minimize.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

class KnownHere;

/// Runs scenarios in so many processes, each in one of its own where there are no more scenarios
/// than that; one after another from here where their engine is a process already, because starting
/// one takes longer than many runs. Empty where there was no time (must_stop() of interrupt.h).
/// `progress` is told how many have ended.
///
/// Errors: MachineLacks, of an engine that is a process.
std::vector<RunResult> run_isolated(
    std::span<Scenario const> scenarios, RunOptions const& options, int processes,
    std::function<void(HowFar const&)> const& progress = [](HowFar const&) {});

/// What is read from a file of it: the scenario that people will run.
Scenario as_written(Scenario const& scenario);

/// What became of a scenario that was to be minimised.
struct MinimizeAttempt {
  enum class End {
    minimized,
    passes,       // it does not fail
    unsteady,     // it fails, but not each time in the same way: nothing can be concluded from runs
    interrupted,  // before it was known to fail
  };
  End end = End::passes;
  RunResult first = {};    // of the scenario as it was given
  Symptom symptom = {};    // of `minimized`: what was kept
  Scenario scenario = {};  // of `minimized`: the smallest found, expecting the symptom
  RunResult result = {};   // of `minimized`: of its run
  std::uint64_t runs = 0;
  bool complete = true;  // false: an interrupt or the budget ended it early
};

struct WorkerOptions {
  RunOptions run = {};
  int at_once = 1;                                                     // processes
  std::function<void(HowFar const&)> progress = [](HowFar const&) {};  // runs, of at most
  KnownHere const* known = nullptr;  // a candidate that fails by one of these does not count
};

/// Minimises `scenario`, which is as written or generated: options.run is applied to it, and it
/// runs with seed 0 where nobody gives another. A scenario of what a search found that fails only
/// in the process in which it was found is `passes` here.
MinimizeAttempt minimize_in_workers(Scenario scenario, WorkerOptions const& options);

}  // namespace adamant::scenarios
