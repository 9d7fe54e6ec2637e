// Time and memory of this process, for the suites.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <stdexcept>

#include "scenarios/run/run.h"

namespace adamant::scenarios {

/// Wall seconds of one call.
template <typename Function>
double seconds_of(Function const& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls of `function(index)` per wall second, over at least `seconds_min`; the first call, which
/// touches memory for the first time, does not count.
template <typename Function>
double rate_of(double seconds_min, Function const& function) {
  function(0);
  auto const begin = std::chrono::steady_clock::now();
  double seconds = 0;
  int count = 0;
  while (seconds < seconds_min) {
    function(++count);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return count / seconds;
}

/// The largest resident size that this process has had.
inline double peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

/// Runs a scenario that has to pass: a number for a wrong run would be worth nothing.
///
/// Errors: std::runtime_error where it does not.
inline void run_and_pass(Scenario const& scenario, RunOptions const& options = {}) {
  RunResult const result = run_scenario(scenario, options);
  if (result.outcome == Outcome::pass) return;
  std::string const law = result.violations.empty() ? "" : result.violations.front().law;
  throw std::runtime_error("the measured scenario did not pass: " + law + result.reason + " " +
                           result.message);
}

}  // namespace adamant::scenarios
