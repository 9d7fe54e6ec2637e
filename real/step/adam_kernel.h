// Launches one Adam step over all pieces of a work list, and its readable twin over one parameter.
// Neither knows where the buffers come from or what a group is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"
#include "real/step/step_table.h"
#include "real/step/work_list.h"

namespace adamant::real {

/// Two numbers on the device that every gradient is multiplied by, one after the other, before it
/// is used; null for 1.
struct GradientFactors {
  float const* inverse = nullptr;      // of the loss scale
  float const* coefficient = nullptr;  // of clipping
};

/// Device addresses of the flat buffers, null where there is none of that kind. They start at
/// 16-byte boundaries and do not alias.
struct AdamArguments {
  std::byte* parameters = nullptr;
  std::byte* main = nullptr;
  std::byte* gradients = nullptr;
  std::byte* cast_gradients = nullptr;
  std::byte* exp_avg = nullptr;
  std::byte* exp_avg_sq = nullptr;
  WorkPiece const* pieces = nullptr;
  StepScalars const* table = nullptr;  // indexed by WorkPiece::parameter
  GradientFactors factors = {};
};

/// Updates every element of the pieces whose row says `apply`, in one launch. REQUIRES: some.
///
/// Rounding: each factor once, as adam_element says, then each result once to the format in which
///           it is stored; the parameter beside a main weight from the same fp32 result. The same
///           bits for every way of cutting pieces.
/// Stream:   ordered on `stream`, returns before completion. Errors: CudaError.
void launch_adam(AdamArguments const& arguments, WorkListExtent const& extent,
                 Stream const& stream);

/// One parameter, flat, with its row by value. `parameter` is the copy that is rounded from the
/// weight; without one, the weight is the parameter.
struct AdamTwinArguments {
  Numbers weight;
  Numbers gradient;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter = {};
  std::int64_t numel = 0;
  StepScalars scalars;
};

/// The same step, written to be read: no pieces, no table, no vectors. What launch_adam must equal
/// bit for bit.
void launch_adam_twin(AdamTwinArguments const& arguments, Stream const& stream);

}  // namespace adamant::real
