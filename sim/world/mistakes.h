// When two violations are one mistake: what many ranks, steps, buffers or worlds show alike is told
// once, the first of them, with how often it was found and on which ranks.
#pragma once

#include <string>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {

/// By this one mistake is known again: what differs from rank to rank, from buffer to buffer and
/// from schedule to schedule is left out. Lines of the source decide nothing: a first run has none.
std::string mistake_of(Violation const& violation);

/// Is it to stand apart from what is alike, until the second run tells its line? Leaks are one
/// mistake where one line made them, whatever their sizes. A few hundred are enough.
bool stands_apart(std::vector<Violation> const& found, Violation const& violation);

/// Does the list have as many different ones of this law as are worth reading?
bool full(std::vector<Violation> const& found, Law law);

/// It was found again. REQUIRES: `again` is of the same mistake.
void fold(Violation& into, Violation const& again);

}  // namespace adamant::sim
