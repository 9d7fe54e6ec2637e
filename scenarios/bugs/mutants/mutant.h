// A machine-made mistake: one place of one function at which something else stands. It becomes a
// bug like those that people wrote down, with no law of its own: any may notice it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/patch.h"
#include "sim/lexer/tokens.h"

namespace adamant::bugs {

struct Mutant {
  /// operator__file__function__line, the line counted from the function's first: the same for as
  /// long as nobody edits that function. A second one of a line ends with _2.
  std::string id;
  std::size_t made_by = 0;   // index in operators()
  std::size_t function = 0;  // index in the target
  int line = 1;              // of the target
  sim::Edit edit;            // of the target's text
};

/// What all operators find in the target, in the order of its functions.
std::vector<Mutant> mutants_of(Target const& target);

/// Of one mutant. Its source is the file and line at which it was made; its hunk keeps the lines of
/// the whole function, so that it fits in one place only.
BugFile bug_of(Mutant const& mutant, Target const& target);

}  // namespace adamant::bugs
