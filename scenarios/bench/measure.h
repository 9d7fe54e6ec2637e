// Time and memory of this process, for the suites.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <stdexcept>

#include "scenarios/runner/run.h"

namespace adamant::scenarios {

/// Wall seconds of one call.
template <typename Function>
double seconds_of(Function const& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds that this process has spent on a processor. On a busy machine it is what repeats.
inline double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Nanoseconds that this thread has spent on a processor in one call: for what is over too soon for
/// the process' own account, which counts in microseconds at best.
template <typename Function>
double processor_nanoseconds_of(Function const& function) {
  auto const now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  double const begin = now();
  function();
  return now() - begin;
}

/// Units: calls per second.
struct Rate {
  double by_wall = 0;
  double by_processor = 0;
};

/// How often `function(index)` can be called, over at least `seconds_min` of wall time; the first
/// call, which touches memory for the first time, does not count.
template <typename Function>
Rate rate_of(double seconds_min, Function const& function) {
  function(0);
  double const processor_begin = processor_seconds();
  auto const begin = std::chrono::steady_clock::now();
  double seconds = 0;
  int count = 0;
  while (seconds < seconds_min) {
    function(++count);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return {.by_wall = count / seconds,
          .by_processor = count / (processor_seconds() - processor_begin)};
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
  std::string_view const law =
      result.violations.empty() ? "" : id_of(result.violations.front().law);
  throw std::runtime_error("the measured scenario did not pass: " + std::string(law) +
                           result.reason + " " + result.message);
}

}  // namespace adamant::scenarios
