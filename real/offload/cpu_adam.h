// Adam and AdamW over plain arrays of the host's memory: the CPU's part of a hybrid step. The
// arithmetic is adam_element's, so that the bits are those of the kernel; the compiler makes
// vectors of the loop. It knows nothing of devices, tensors or threads.
#pragma once

#include <cstdint>

#include "real/cuda/numbers.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// The same run of elements in four arrays, which do not overlap.
struct CpuAdamArrays {
  float* weights = nullptr;
  float const* gradients = nullptr;
  float* exp_avg = nullptr;
  float* exp_avg_sq = nullptr;

  CpuAdamArrays from(std::int64_t element) const {
    return {weights + element, gradients + element, exp_avg + element, exp_avg_sq + element};
  }
};

/// Which registers a loop uses. The bits are the same.
enum class Vectors { narrow, avx2, avx512 };

/// The widest that this processor has and this build may use: code whose accesses are reported
/// keeps to 16 bytes.
Vectors widest_vectors();

/// One step of `count` elements, in place.
///
/// Rounding: as adam_element says; the same bits for every `vectors` and every way of cutting runs.
void cpu_adam(StepScalars const& scalars, CpuAdamArrays const& arrays, std::int64_t count,
              Vectors vectors = widest_vectors());

/// What the numbers of an array share: read is stored * now, stored is x * (1 / next).
struct CpuScale {
  float now = 1;
  float next = 1;
};

/// Of a parameter's states: in fp32 and bf16 both are 1.
struct CpuScales {
  CpuScale weight;
  CpuScale exp_avg;
  CpuScale exp_avg_sq;
};

/// The same run in arrays of any formats; they do not overlap. With `copies`, `parameter` gets the
/// new weights as well. Weights that are remainders are joined with `parameter`, which is bf16, and
/// split again; then `copies` is set.
/// Every gradient is multiplied by `inverse` (of the loss scale) and then by `coefficient` (of
/// clipping) before it is used, each product rounded once.
struct CpuAdamNumbers {
  Numbers weights;
  Numbers gradients;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter;
  bool copies = false;
  float inverse = 1;
  float coefficient = 1;
  CpuScales scales = {};
};

/// One step of `count` elements, in place.
///
/// Rounding: as above, then each result once to the format in which it is stored; the parameter
///           beside a main weight from the same fp32 result.
void cpu_adam(StepScalars const& scalars, CpuAdamNumbers const& numbers, std::int64_t count,
              Vectors vectors = widest_vectors());

/// The largest finite magnitudes of new values before they are rounded; 0 where there is none.
struct CpuAmaxes {
  float weight = 0;
  float exp_avg = 0;
  float exp_avg_sq = 0;
};

/// Those of a step that is yet to come: computes it and changes nothing.
///
/// Rounding: new values as cpu_adam() has them before it rounds them to their formats, read by the
///           scales `now`; `next` is not used.
CpuAmaxes cpu_adam_amaxes(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                          std::int64_t count, Vectors vectors = widest_vectors());

}  // namespace adamant::real
