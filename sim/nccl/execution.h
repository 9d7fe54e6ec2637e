// What a collective or message does when all its streams have come to it: accesses judged, bytes
// moved, knowledge passed on.
#pragma once

#include "sim/nccl/collective.h"

namespace adamant::sim {

/// Executes the call and gives it back to the pool. REQUIRES: inside its meeting.
void execute(Runtime& runtime, Call& call);

}  // namespace adamant::sim
