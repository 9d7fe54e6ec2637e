// The readable twins of the kernels of a step: no pieces, no table, no vectors. What launch_adam()
// and launch_amaxes() must equal bit for bit.
#pragma once

#include <cstdint>

#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"
#include "real/step/step_table.h"

namespace adamant::real {

/// What is stored is read times `now`; anything is stored times the reciprocal of `next`.
struct TwinScale {
  float now = 1;
  float next = 1;
};

/// One parameter, flat, with its row by value. `parameter` is the copy that is rounded from the
/// weight; without one, the weight is the parameter. Of a weight that is a remainder it is the
/// other half.
struct AdamTwinArguments {
  Numbers weight;
  Numbers gradient;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter = {};
  TwinScale weight_scale = {};
  TwinScale exp_avg_scale = {};
  TwinScale exp_avg_sq_scale = {};
  std::int64_t numel = 0;
  StepScalars scalars;
};

/// One step.
///
/// Stream: ordered on `stream`, returns before completion. Errors: CudaError.
void launch_adam_twin(AdamTwinArguments const& arguments, Stream const& stream);

/// Raises `amaxes` to the largest finite magnitudes of what a step would store.
///
/// Shapes: `amaxes` [slots_per_parameter], bits of numbers >= 0, on the device.
void launch_amax_twin(AdamTwinArguments const& arguments, std::int32_t* amaxes,
                      Stream const& stream);

}  // namespace adamant::real
