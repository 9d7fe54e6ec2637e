// Makes of a failing scenario a smaller one that fails in the same way. It decides which
// scenarios are tried and in which order; running them is the caller's part, so it knows neither
// engines nor processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/seam/result.h"
#include "scenarios/search/minimize/symptom.h"

namespace adamant::scenarios {

/// Runs scenarios, each on its own, and says how each one ended. An empty answer ends
/// minimising with what it has.
using Judge = std::function<std::vector<RunResult>(std::span<Scenario const>)>;

struct MinimizeOptions {
  /// Of the engine that the judge runs: what it would refuse is no candidate.
  Capabilities capabilities = capabilities_of_simulation();
  std::uint64_t runs_max = 10'000;
  /// Scenarios that the judge is given in one call, at first and at most: the longer nothing fails,
  /// the more.
  std::size_t at_once = 1;
  std::size_t at_once_max = 1;
  /// So many scenarios are put together from their beginning (alternatives.h), each time that no
  /// pass leads any further.
  std::size_t alternatives_max = 0;
};

struct Minimized {
  Scenario scenario;  // the smallest one found; its schedule is recorded unless the default does
  RunResult result;   // of its run
  std::uint64_t runs = 0;  // what it took; counts those up to each success, whatever `at_once`
  bool complete = true;    // false: the budget was spent or the judge gave up
};

/// The smallest scenario reached from `scenario` by passes() and alternatives that still shows
/// `symptom`. A function of the scenario and of what the judge answers: how many are judged at once
/// changes nothing but the time. Without a catalogued bug an alternative has to look like what is
/// there (alike_by() of symptom.h): where several things are wrong, it must not be another one.
///
/// REQUIRES: `result` is what the judge says of `scenario`, with `symptom` in it and with the
///           choices of the run. The scenario has a seed.
/// Expectation: candidates expect to pass, and so does the scenario that is returned.
Minimized minimize(Scenario scenario, RunResult result, Symptom const& symptom, Judge const& judge,
                   MinimizeOptions const& options = {});

}  // namespace adamant::scenarios
