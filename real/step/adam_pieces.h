// What a block of a launch over a work list has before it: the arrays of a piece from some element
// on, and what the numbers in them are multiplied by. For the kernels of a step; it knows nothing
// of what they do with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "real/step/adam_fp32.h"
#include "real/step/adam_kernel.h"
#include "real/step/adam_mixed.h"
#include "real/step/scale_slots.h"

namespace adamant::real {

__device__ __forceinline__ Numbers part(std::byte* flat, std::int64_t offset, NumberFormat format,
                                        std::int64_t begin) {
  return {flat + offset + begin * element_bytes(format), format};
}

__device__ inline Factors factors_of(GradientFactors const& on_device) {
  Factors factors;
  if (on_device.inverse != nullptr) factors.inverse = *on_device.inverse;
  if (on_device.coefficient != nullptr) factors.coefficient = *on_device.coefficient;
  return factors;
}

/// The scale of one state of a piece; 1 where it has none.
__device__ __forceinline__ Scale scale_of(ScaleArrays const& on_device, WorkPiece const& piece,
                                          int slot) {
  if ((piece.formats.scaled >> slot & 1) == 0) return {};
  std::int64_t const at = std::int64_t{piece.parameter} * slots_per_parameter + slot;
  return {.read = on_device.now[at], .write = 1.0F / on_device.next[at]};
}

/// REQUIRES: is_fp32(piece.formats).
__device__ __forceinline__ Fp32Arrays fp32_arrays_of(AdamArguments const& a, WorkPiece const& piece,
                                                     Factors const& factors, std::int64_t begin) {
  PieceFormats const& f = piece.formats;
  auto const from = [begin](std::byte* flat, std::int64_t offset) {
    return reinterpret_cast<float*>(flat + offset) + begin;
  };
  return {.p = from(f.main != 0 ? a.main : a.parameters, piece.weight),
          .g = from(f.cast != 0 ? a.cast_gradients : a.gradients, piece.gradient),
          .m = from(a.exp_avg, piece.exp_avg),
          .v = from(a.exp_avg_sq, piece.exp_avg_sq),
          .factors = factors};
}

__device__ __forceinline__ MixedArrays arrays_of(AdamArguments const& a, WorkPiece const& piece,
                                                 Factors const& factors, std::int64_t begin) {
  PieceFormats const& f = piece.formats;
  return {.weight = part(f.main != 0 ? a.main : a.parameters, piece.weight, f.weight, begin),
          .gradient =
              part(f.cast != 0 ? a.cast_gradients : a.gradients, piece.gradient, f.gradient, begin),
          .exp_avg = part(a.exp_avg, piece.exp_avg, f.exp_avg, begin),
          .exp_avg_sq = part(a.exp_avg_sq, piece.exp_avg_sq, f.exp_avg_sq, begin),
          .parameter = part(a.parameters, piece.parameter_copy, f.parameter, begin),
          .copies = f.copies != 0,
          .plain = f.scaled == 0 && f.weight != NumberFormat::remainder,
          .factors = factors,
          .weight_scale = scale_of(a.scales, piece, main_slot),
          .exp_avg_scale = scale_of(a.scales, piece, exp_avg_slot),
          .exp_avg_sq_scale = scale_of(a.scales, piece, exp_avg_sq_slot)};
}

}  // namespace adamant::real
