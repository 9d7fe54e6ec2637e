// The streams of one rank. Between two verbs of the engine everything enqueued is ordered before
// the end of `compute`; inside a verb the others fork from it and join it again.
#pragma once

#include "real/cuda/handles.h"

namespace adamant::real {

struct Streams {
  Stream compute;
  Stream comm{StreamPriority::high};  // collectives; a hint that they should not queue behind math
  Stream copy;                        // the step table's way to the device
};

}  // namespace adamant::real
