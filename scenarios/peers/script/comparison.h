// Both sides of a violation in a script: what `actual` has to be, at its head, and the comparison
// at its end. How a script comes to `actual` is not known here.
#pragma once

#include <string>

#include "scenarios/peers/script/python.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios::script {

/// EXPECTED, with this text, or the two ends of an interval.
void write_expected(python::Code& code, Violation const& violation, std::string const& expected);

/// Prints both sides of what is called `place`; exit status 1 where they differ.
void write_comparison(python::Code& code, Violation const& violation, std::string const& place);

/// The same of two runs, whose sides are `expected` and `actual`.
void write_comparison_of_runs(python::Code& code, Violation const& violation,
                              std::string const& place);

/// The same of two ranks, whose sides are `expected` and `actual`.
void write_comparison_of_ranks(python::Code& code, int first, int second, std::string const& place);

/// The same of `runs`, two lists of pairs of a name and what it stands for: their first difference.
void write_first_difference(python::Code& code);

}  // namespace adamant::scenarios::script
