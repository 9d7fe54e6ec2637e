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
/// mistake where one line made them, whatever their sizes. A few hundred are enough; those after
/// them are `further_leak`s.
bool stands_apart(std::vector<Violation> const& found, Violation const& violation);

/// The same leak without what tells it from others: all such are one mistake of their own, so that
/// those which are told apart have their own counts.
Violation further_leak(Violation leak);

/// Does the list have as many different ones of its law as are worth reading? There is always room
/// for the one of further leaks.
bool full(std::vector<Violation> const& found, Violation const& violation);

/// It was found again. REQUIRES: `again` is of the same mistake.
void fold(Violation& into, Violation const& again);

}  // namespace adamant::sim
