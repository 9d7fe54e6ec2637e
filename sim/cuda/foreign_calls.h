// Calls of threads that the program started itself. They are no rank's, and no world models them:
// each is refused, and the report of the run tells it.
//
// All else here belongs to the thread that runs the world. This is called by any, at any moment.
#pragma once

#include <cuda_runtime_api.h>

namespace adamant::sim {

class World;

/// A run begins, to which refused calls belong from now on. Where the first of each name is, is
/// kept at once: a second run need not have the same, because threads come when they come.
void begin_foreign_calls();

/// Refuses `call` of a thread that is no rank's.
/// Errors: cudaErrorNotSupported; cudaErrorNoDevice where no run goes on, as for everybody.
cudaError_t refuse_foreign_call(char const* call);

/// The run is over, or cut off: what it refused is a warning (error.thread), and no later call is
/// its own.
void judge_foreign_calls(World& world);

}  // namespace adamant::sim
