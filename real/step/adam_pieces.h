// What a block of a launch over a work list has before it: a section of a piece, its arrays, and
// what the numbers in them are multiplied by. For the kernels of a step; it knows nothing of what
// they do with them.
//
// Block (x, y) has section y of piece x, 4,096 elements, so that 256 threads do four 16-byte
// accesses to each fp32 array; 16 sections a piece keep all multiprocessors busy with a few hundred
// pieces.
#pragma once

#include <cstddef>
#include <cstdint>

#include "real/cuda/assert.h"
#include "real/step/adam_kernel.h"
#include "real/step/adam_mixed.h"
#include "real/step/scale_slots.h"

namespace adamant::real {

inline constexpr std::int64_t section_numel = 4'096;
static_assert(piece_numel_max % section_numel == 0);
static_assert(section_numel % lanes == 0);

/// Elements [begin, begin + count) of a piece; none where the piece is shorter.
struct Section {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

__device__ __forceinline__ Section section_of(WorkPiece const& piece) {
  std::int64_t const begin = static_cast<std::int64_t>(blockIdx.y) * section_numel;
  if (begin >= piece.count) return {};
  std::int64_t const left = piece.count - begin;
  return {.begin = begin, .count = left < section_numel ? left : section_numel};
}

/// The grid that has a block for every section.
inline dim3 grid_of(WorkListExtent const& extent) {
  ADAMANT_REAL_ASSERT(extent.piece_count > 0);
  ADAMANT_REAL_ASSERT(extent.piece_count <= 0x7fffffff);  // the widest grid
  std::int64_t const sections = (extent.longest + section_numel - 1) / section_numel;
  return dim3(static_cast<unsigned>(extent.piece_count), static_cast<unsigned>(sections));
}

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
