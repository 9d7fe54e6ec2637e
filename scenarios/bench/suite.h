// What `adamant bench` measures: suites by name, each giving rows of numbers. Measuring reads the
// clock; nothing that is measured does.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

struct Row {
  std::string suite;
  std::string name;
  double value = 0;
  std::string unit;
};

/// Of a row that stands in the place of a measurement: that many bytes of its results are wrong.
inline constexpr std::string_view wrong_bits_unit = "wrong bytes";

struct BenchOptions {
  bool full = false;  // also what takes minutes
};

struct Suite {
  std::string_view name;  // its main row bears the same name
  std::string_view what;
  /// Errors: MachineLacks where this machine cannot be measured; std::runtime_error.
  std::vector<Row> (*measure)(BenchOptions const& options);
};

/// All suites, the quick ones first.
std::span<Suite const> suites();

// Each suite in its file.
std::vector<Row> measure_schedules(BenchOptions const& options);    // schedules.cpp
std::vector<Row> measure_cases(BenchOptions const& options);        // cases.cpp
std::vector<Row> measure_checking(BenchOptions const& options);     // checking.cpp
std::vector<Row> measure_checkpoint(BenchOptions const& options);   // checkpoint.cpp
std::vector<Row> measure_reshard(BenchOptions const& options);      // reshard.cpp
std::vector<Row> measure_cpu_step(BenchOptions const& options);     // cpu_step.cpp
std::vector<Row> measure_cpu_formats(BenchOptions const& options);  // cpu_step_formats.cpp
std::vector<Row> measure_worlds(BenchOptions const& options);       // worlds.cpp
std::vector<Row> measure_gpt2(BenchOptions const& options);         // gpt2.cpp

}  // namespace adamant::scenarios
