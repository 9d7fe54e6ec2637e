// The engine's own tests, in programs of their own that have mutants in their engine
// (properties/engine/mutants_main.cpp).
#pragma once

#include <string>
#include <string_view>

namespace adamant::scenarios {

/// How the tests ended.
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
