// Launches one Adam step over all pieces of a work list, and before it the search for the scales by
// which the step is going to store. Neither knows where the buffers come from or what a group is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "real/cuda/handles.h"
#include "real/step/scale_slots.h"
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
  ScaleArrays scales = {};  // of all states, where some piece has a scaled one
};

/// Updates every element of the pieces whose row says `apply`, in one launch. REQUIRES: some.
///
/// Rounding: scaled states times `now`, each factor once, as adam_element says, then scaled results
///           times the reciprocal of `next`, then each result once to the format in which it is
///           stored; the parameter beside a main weight from the same fp32 result, or that split
///           in two. The same
///           bits for every way of cutting pieces.
/// Stream:   ordered on `stream`, returns before completion. Errors: CudaError.
void launch_adam(AdamArguments const& arguments, WorkListExtent const& extent,
                 Stream const& stream);

/// Raises the amax of every scaled state of pieces whose row says `apply`, to the largest finite
/// magnitude of what launch_adam() is going to store, before it is rounded. Reads `now` of the
/// scales, and changes nothing else. REQUIRES: some piece.
///
/// Shapes: `amaxes` by slot (scale_slots.h), bits of numbers >= 0, which order as the numbers do.
/// Stream: as launch_adam(). Errors: CudaError.
void launch_amaxes(AdamArguments const& arguments, std::int32_t* amaxes,
                   WorkListExtent const& extent, Stream const& stream);

}  // namespace adamant::real
