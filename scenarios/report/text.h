// Results as text for people: one line for what was as expected, and for everything else the law,
// the place, both sides and a line to paste. It prints nothing itself.
#pragma once

#include <string>

#include "scenarios/report/style.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

/// A result with the command that repeats it.
struct Reported {
  RunResult result;
  std::string replay;
};

/// One violation, indented: law and place, then both values with their distance in units in the
/// last place, or both accesses and the edge that would have ordered them.
std::string describe(Violation const& violation, Style const& style);

/// One result. Empty where nothing deserves a word: a met expectation with --quiet.
std::string describe(Reported const& reported, Style const& style);

}  // namespace adamant::scenarios
