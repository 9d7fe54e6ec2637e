// Results as text for people: one line for what was as expected, and for everything else the law,
// the place, both sides and a line to paste. It prints nothing itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scenarios/report/style.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A result with the command that repeats it.
struct Reported {
  RunResult result;
  std::string replay;
  std::string lacking = {};  // what this machine lacks to run it; empty: nothing
  int line = 0;              // of its file, where it failed; 0: unknown
  bool alone = false;        // the only one of its call: what it expected is told, too
  bool minimized = true;     // of a search: to its end
};

/// "1 scenario", "2 scenarios".
std::string counted(std::uint64_t count, std::string_view noun);

/// How many a second, "1430" or "0.5": slow ones are told apart too.
std::string per_second(double rate);

/// A failure as a workflow command by which GitHub Actions shows it at its file.
/// Source: docs.github.com, "Workflow commands for GitHub Actions", error messages.
std::string annotation(Reported const& failure);

/// One violation, indented: law and place, then both values with their distance in units in the
/// last place, or both accesses and the edge that would have ordered them.
std::string describe(Violation const& violation, Style const& style);

/// One result. Empty where nothing deserves a word: a met expectation with --quiet.
std::string describe(Reported const& reported, Style const& style);

}  // namespace adamant::scenarios
