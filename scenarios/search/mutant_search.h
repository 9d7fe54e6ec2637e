// Whether anything notices one machine-made mistake: scenarios that somebody wrote, then generated
// ones, one after the other in this process until one does not end as it should, then the engine's
// own tests. A mutant that crashes or hangs takes the process with it, which is noticed as well, by
// the caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/scenario.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

/// A scenario that passes, or is refused, where no mistake is made.
struct MutantTrial {
  std::string name;
  Scenario scenario;
  RunOptions options;
};

struct MutantLimits {
  std::uint64_t seed = 0;
  std::uint64_t cases_max = 0;  // generated ones, after all trials
  int case_seconds_max = 0;     // of processor time; who needs more, or 4 GiB, dies of SIGPROF
  std::vector<std::string> engine_tests = {};  // programs that have the engine's own tests
};

struct MutantEnd {
  std::string law;          // that noticed it, or how the run ended else; empty: it survived
  std::string by;           // the scenario's name, the generated case's number, or the test's name
  std::uint64_t cases = 0;  // up to that one, which is the last
  double seconds = 0;
  std::string lacking;  // why this program cannot search at all
};

/// Nothing is thrown. A case that does not end kills this process: it is for workers.
MutantEnd try_mutant(bugs::Bug const& mutant, std::vector<MutantTrial> const& trials,
                     MutantLimits const& limits);

/// MutantEnd as one line between processes, and back.
std::string to_line(MutantEnd const& end);
MutantEnd mutant_end_from_line(std::string const& line);

/// How a worker process that died is counted: "crash" or "hang".
std::string law_of_death(std::string const& death);

/// How the engine's own tests ended. They are in programs of their own that have mutants in their
/// engine (properties/engine/mutants_main.cpp).
struct EngineTestsEnd {
  bool failed = false;
  std::string test;   // the first that failed, or the one under way at the end; may be empty
  std::string death;  // how the process ended, where it was not by itself
};

/// Runs the tests of `program` with this mutant selected, or with none for "". It takes seconds.
///
/// Errors: std::system_error where the program cannot be run.
EngineTestsEnd run_engine_tests(std::string const& program, std::string_view mutant);

}  // namespace adamant::scenarios
