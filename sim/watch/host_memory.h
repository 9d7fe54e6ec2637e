// Which addresses belong to ordinary memory of the host, as opposed to what a kernel may have for
// its own on a CPU: its stack, constants and variables of the device.
//
// Not known: blocks so large that malloc maps them apart, and the stack on which run() was called.
#pragma once

#include "sim/watch/span.h"

namespace adamant::sim {

/// Is this in the heap, as far as it grows in place, or on the stack of a rank?
bool is_host_memory(void const* address);
/// Holds all for which is_host_memory() is true now.
Span host_memory_span();

}  // namespace adamant::sim
