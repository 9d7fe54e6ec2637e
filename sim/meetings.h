// Where all ranks of a run wait for each other: meet() and barrier().
#pragma once

namespace adamant::sim {

/// Before the next run.
void forget_meetings();

}  // namespace adamant::sim
