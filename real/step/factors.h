// What every gradient of a launch is multiplied by, in registers. It knows nothing of where the
// factors come from.
#pragma once

#include <cuda_runtime.h>

namespace adamant::real {

/// The factors of a launch, read once a block. Times 1 is exact, so there is no case without.
struct Factors {
  float inverse = 1;
  float coefficient = 1;

  __device__ __forceinline__ float operator()(float gradient) const {
    return (gradient * inverse) * coefficient;
  }
};

}  // namespace adamant::real
