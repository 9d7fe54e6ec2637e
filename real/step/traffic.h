// How many bytes of device memory a step moves for each element that it updates, as the formats of
// a parameter say. What tables and benchmarks hold the kernels to; it launches nothing.
#pragma once

#include <cstddef>

#include "oracle/types.h"

namespace adamant::real {

/// Units: bytes an element. A row of scalars and a piece of the work list are not counted.
struct StepTraffic {
  std::size_t read = 0;
  std::size_t written = 0;
  /// By the pass before it, which looks for new scales; 0 where no state has one. It writes nothing
  /// but a few maxima.
  std::size_t read_for_scales = 0;

  std::size_t all() const { return read + written; }
};

/// Of the fused step and, where a state is scaled, of the pass before it; not of what quantises the
/// parameter afterwards.
StepTraffic traffic_of_step(Formats const& formats, AdamMode mode = AdamMode::adamw);

}  // namespace adamant::real
