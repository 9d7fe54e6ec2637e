// Runs one scenario: an engine executes it beside the oracle, a verdict compares the two after
// every operation, and what came of it is a RunResult. It knows no engine by name but those that
// the program was linked with (scenarios/seam/engine.h).
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// Which results get a timeline, from an engine that has one.
enum class Timelines { none, of_violations, all };

/// What the caller adds to a scenario or puts in the place of what it says.
struct RunOptions {
  std::optional<std::string> engine;  // sim | sim-unchecked | cuda
  std::optional<std::uint64_t> seed;  // a scenario without any seed runs with 0
  std::optional<Schedule> schedule;
  int schedules = 0;    // also run under so many further schedules, random and pct by turns
  bool repeat = false;  // run it again by its recorded choices: the digest must be the same
  bool lines = false;   // run a violation again to learn the lines of the source that it is about
  Timelines timelines = Timelines::none;  // likewise run again for it
  bool strict = false;                    // warnings are violations
  bool dry = false;      // execute nothing: refuse what would be refused, and count memory
  std::string bug = "";  // a catalogued bug in the place of the scenario's own
  std::optional<std::filesystem::path> dump;  // directory for inputs and states
  /// Names the dump's temporary: whoever made these options can remove it after a worker that died
  /// (judge/dump/dump.h).
  pid_t dump_process = ::getpid();
  /// Where checkpoints are that the program loads without saving them: beside the scenario's file.
  std::filesystem::path checkpoints = "";
  std::size_t device_bytes = 80ULL << 30;  // of each simulated device
  bool loopback = false;  // all ranks share one device and bring their own collectives
  /// Told after each operation: how many were executed, of those of all schedules.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// Runs the scenario and judges it; `met` says whether that is what the scenario expects.
///
/// Outcomes:  pass; violated, with those of the first operation at which the verdict saw a
///            violation and all that the world noticed, of each law the first few; refused, with
///            nothing run, or with out_of_memory. An engine that gives up although no law was seen
///            broken violates error.clean. Outcome `error` is left to callers: a run that died.
/// Schedules: with options.schedules > 0 the scenario's own schedule is repeated, then the others
///            run until one fails; that one is reported, its choices with it. A scenario that
///            expects determinism.digest to be violated is always repeated.
/// Dry:       outcome refused, or pass where a run would begin; `met` says then whether a run could
///            be what is expected. What this machine has no memory for is a note. Only memory of
///            engines in the process is counted.
/// Errors:    MachineLacks; OutputError (scenarios/judge/dump/output_error.h) if a dump cannot be
///            written. A result comes from a finished run only.
RunResult run_scenario(Scenario const& scenario, RunOptions const& options = {});

}  // namespace adamant::scenarios
