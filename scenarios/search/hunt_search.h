// One search for one catalogued bug: generated scenarios, one after the other in this process,
// until the bug's law is seen broken. It gets no hint: the cases are those that `fuzz` would run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

struct HuntLimits {
  std::uint64_t cases_max = 0;
  std::chrono::milliseconds time_max{0};
};

/// What one search came to.
struct HuntEnd {
  bool found = false;
  std::uint64_t cases = 0;  // up to the one that broke the law, which is the last
  double seconds = 0;
  std::string first_law = "";  // what the first failing case broke; empty where none failed
  std::string scenario = "";   // found: YAML that repeats it
  int operations = 0;
  std::string lacking = "";  // why this program cannot search at all
  std::string death = "";    // what ended the search before its time
};

/// Searches until the law is broken or a limit is reached. Nothing is thrown.
HuntEnd hunt_once(bugs::Bug const& bug, std::uint64_t seed, HuntLimits const& limits);

/// HuntEnd as one line between processes, and back.
std::string to_line(HuntEnd const& end);
HuntEnd hunt_end_from_line(std::string const& line);

}  // namespace adamant::scenarios
