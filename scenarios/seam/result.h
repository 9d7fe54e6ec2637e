// What one run of one scenario came to: the only thing that reports, exit codes, the fuzzer and the
// minimiser look at. Plain values; it knows no engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adamant::scenarios {

enum class Outcome { pass, violated, refused, error };

/// One side of a conflict between two accesses.
struct AccessReport {
  int rank = 0;
  std::string stream;
  std::string operation;
  std::string kind;
  std::string buffer;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A broken law: the counterexample.
struct ViolationReport {
  std::string law;
  int operation = -1;  // index of the program's entry, from 0; -1: outside of every operation
  int rank = 0;
  std::string message;

  // Laws about values.
  std::string tensor;       // "embed.weight/exp_avg", "embed.weight" for the parameter itself
  std::int64_t index = -1;  // row-major in the whole tensor; -1: no element is concerned
  std::string expected;     // hexadecimal floating point, or text
  std::string actual;
  std::string expected_decimal;
  std::string actual_decimal;
  std::optional<std::uint64_t> ulp;

  // Laws about accesses and order.
  std::vector<AccessReport> accesses;
  std::string missing;
};

struct RunResult {
  std::string name;    // the scenario's
  std::string file;    // empty if generated
  std::string engine;  // "sim", "sim-unchecked", "cuda"
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::error;
  std::string reason;    // refused: the id, for example "unsupported.layout"; error: what happened
  std::string message;   // refused and error: for people
  std::string expected;  // as `expect` says it: "pass", "violates order.race", "refused any"
  bool met = false;
  int operations = 0;  // entries of the program, those inside `capture` included
  int schedules = 0;
  std::uint64_t digest = 0;
  double wall_seconds = 0;
  double simulated_seconds = 0;
  std::vector<ViolationReport> violations;
  std::size_t device_peak_bytes = 0;
  std::size_t pinned_peak_bytes = 0;
  std::vector<std::uint32_t> choices;  // of the run that is reported
  std::vector<std::string> notes;
};

}  // namespace adamant::scenarios
