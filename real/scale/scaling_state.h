// What a rank's device knows of loss scale and clipping between operations. It lives in device
// memory, where kernels of a recorded graph find it, too; the same bits on every rank.
#pragma once

#include <cstdint>

namespace adamant::real {

struct ScalingState {
  float scale = 1;              // what the next backward multiplies gradients by
  float inverse = 1;            // fl32(1 / scale)
  float applied = 1;            // the inverse that the last step used, or would have
  float norm = 0;               // as the last clip found it
  float coefficient = 1;        // from that clip
  float max_norm = 0;           // that a clip scales to
  std::int32_t overflowed = 0;  // the last step was skipped
  std::int32_t dynamic = 0;     // the scale moves
  std::int32_t growth_tracker = 0;
  std::int32_t hysteresis = 0;
  std::int32_t reserved[6] = {};
};
static_assert(sizeof(ScalingState) == 64);

/// What every gradient is multiplied by, one after the other, where a step runs on the host.
struct CpuFactors {
  float inverse = 1;      // of the loss scale
  float coefficient = 1;  // of clipping
};

}  // namespace adamant::real
