// What a run has come to, gathered from its world, memory and judges.
#pragma once

#include "sim/cuda/runtime.h"
#include "sim/sim.h"

namespace adamant::sim {

/// Takes violations, warnings and the trace out of the runtime, so that it is asked once a run.
Report report_of(Runtime& runtime);

}  // namespace adamant::sim
