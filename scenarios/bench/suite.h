// What `adamant bench` measures: suites by name, each giving rows of numbers. Measuring reads the
// clock; nothing that is measured does.
#pragma once

#include <span>
#include <string_view>

#include "scenarios/bench/rows.h"

namespace adamant::scenarios {

struct BenchOptions {
  bool full = false;  // also what takes minutes
};

struct Suite {
  std::string_view name;  // its main row bears the same name
  std::string_view what;
  /// Errors: MachineLacks where this machine cannot be measured; std::runtime_error.
  void (*measure)(BenchOptions const& options, SuiteRows& rows);
};

/// All suites, the quick ones first.
std::span<Suite const> suites();

// Each suite in its file.
void measure_schedules(BenchOptions const& options, SuiteRows& rows);    // schedules.cpp
void measure_cases(BenchOptions const& options, SuiteRows& rows);        // cases.cpp
void measure_checking(BenchOptions const& options, SuiteRows& rows);     // checking.cpp
void measure_checkpoint(BenchOptions const& options, SuiteRows& rows);   // checkpoint.cpp
void measure_reshard(BenchOptions const& options, SuiteRows& rows);      // reshard.cpp
void measure_cpu_step(BenchOptions const& options, SuiteRows& rows);     // cpu_step.cpp
void measure_cpu_formats(BenchOptions const& options, SuiteRows& rows);  // cpu_step_formats.cpp
void measure_worlds(BenchOptions const& options, SuiteRows& rows);       // worlds.cpp
void measure_gpt2(BenchOptions const& options, SuiteRows& rows);         // gpt2.cpp

}  // namespace adamant::scenarios
