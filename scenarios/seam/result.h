// What one run of one scenario came to: the only thing that reports, exit codes, the fuzzer and the
// minimiser look at. Plain values; it knows no engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/seam/memory.h"
#include "scenarios/seam/timeline.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

enum class Outcome { pass, violated, refused, error };

/// Is said where an engine outside the process writes an infinity or a NaN as a bare word. Wherever
/// it stands, and whatever was asked, it is one mistake.
inline constexpr char const* no_json_number = "JSON has no such number";

/// Where an engine gave up.
struct FailedAt {
  int rank = 0;
  int operation = -1;  // index of the program's entry
  Thrown thrown = {};
};

struct RunResult {
  std::string name;    // the scenario's
  std::string file;    // empty if generated
  std::string engine;  // "sim", "sim-unchecked", "cuda"
  std::uint64_t seed = 0;
  Outcome outcome = Outcome::error;
  std::string reason;   // refused: the id, for example "unsupported.layout"; error: what happened
  std::string message;  // refused and error: for people, or what the engine said
  std::optional<FailedAt> failed_at;  // refused while it ran: by whom
  bool spoilt = false;                // the process that ran it can run no other; see EngineFailure
  std::string expected;  // as `expect` says it: "pass", "violates order.race", "refused any"
  bool met = false;
  int operations = 0;  // entries of the program, those inside `capture` included
  int schedules = 0;
  std::uint64_t digest = 0;
  std::uint64_t values_digest = 0;  // of values alone, whatever was chosen; 0 where nobody knows
  double wall_seconds = 0;
  double simulated_seconds = 0;
  std::vector<Violation> violations;
  std::vector<Violation> warnings;
  std::size_t device_peak_bytes = 0;
  std::size_t pinned_peak_bytes = 0;
  BytesByPurpose peak_bytes{};  // of the rank that had most, purpose by purpose
  /// Of a dry run: nothing was executed, and this is what ranks would need.
  std::optional<std::vector<PlannedMemory>> planned = {};
  std::vector<std::uint32_t> choices;  // of the run that is reported
  // What only a search's summary needs; the first two as in EngineEnd.
  double schedule_chance = 0;
  std::uint64_t marks = 0;
  int different_values = 1;  // how many values_digest there were among the schedules
  std::vector<std::string> notes;
  Timeline timeline;  // of the run that is reported; empty where nobody wanted one
};

}  // namespace adamant::scenarios
