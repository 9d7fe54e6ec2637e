// The copy streams of an engine that offloads: one for each direction, so that both ways of the bus
// are busy at once.
#pragma once

#include "real/cuda/handles.h"

namespace adamant::real {

struct OffloadStreams {
  Stream down;  // device to host
  Stream up;    // host to device
};

}  // namespace adamant::real
