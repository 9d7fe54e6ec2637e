// Arithmetic:  that of the step itself, real/step/adam_element.h, without its end: new values are
//              looked at before they are rounded, and forgotten.
// Launch:      see real/step/adam_pieces.h. A block meets in shared memory and brings the largest
//              magnitude of each scaled state to the parameter's word by one atomic.
// Traffic:     reads g, those of m and v that have a scale, and under L2 the weight; for the amax
// of
//              a main weight all four. fp8 moments and bf16 g under AdamW: 4 bytes an element, 0.93
//              ms for 10^9 at 4.3 TB/s. Pieces without a scale end at once.
#include "real/cuda/launch.h"
#include "real/step/adam_kernel.h"
#include "real/step/adam_pieces.h"

namespace adamant::real {

namespace {

struct AmaxArguments {
  AdamArguments step;
  std::int32_t* amaxes = nullptr;  // by slot
};
static_assert(sizeof(AmaxArguments) == sizeof(AdamArguments) + sizeof(void*));  // no padding

/// The largest finite magnitudes so far of one parameter's states, as bits: those of numbers >= 0
/// order as the numbers do.
struct Largest {
  std::int32_t of[slots_per_parameter] = {};
};

/// Which arrays new values of the scaled states are made of, beside the gradient.
struct Sources {
  bool weight = false;
  bool exp_avg = false;
  bool exp_avg_sq = false;
};

__device__ __forceinline__ bool is_scaled(WorkPiece const& piece, int slot) {
  return (piece.formats.scaled >> slot & 1) != 0;
}

__device__ __forceinline__ Sources sources_of(WorkPiece const& piece, StepScalars const& s) {
  bool const all = is_scaled(piece, main_slot);
  return {.weight = all || s.decoupled == 0,
          .exp_avg = all || is_scaled(piece, exp_avg_slot),
          .exp_avg_sq = all || is_scaled(piece, exp_avg_sq_slot)};
}

__device__ __forceinline__ std::int32_t larger(std::int32_t largest, float x) {
  std::int32_t const magnitude = __float_as_int(x) & 0x7fffffff;
  constexpr std::int32_t infinity = 0x7f800000;
  return magnitude < infinity && largest < magnitude ? magnitude : largest;
}

template <bool decoupled>
__device__ __forceinline__ void look_at(MixedArrays const& a, Sources const& from,
                                        StepScalars const& s, Lanes const& at, Largest& largest) {
  Widened w = {};
  read_gradients(a, at, w.g);
  if (from.weight) read_weights<false>(a, at, w.p);
  if (from.exp_avg) read_state<false>(a.exp_avg, a.exp_avg_scale, at, w.m);
  if (from.exp_avg_sq) read_state<false>(a.exp_avg_sq, a.exp_avg_sq_scale, at, w.v);
  for (int k = 0; k < lanes; ++k) update_one<decoupled>(w, s, k);
  for (int k = 0; k < lanes; ++k) {
    if (k >= at.count) continue;
    largest.of[main_slot] = larger(largest.of[main_slot], w.p[k]);
    largest.of[exp_avg_slot] = larger(largest.of[exp_avg_slot], w.m[k]);
    largest.of[exp_avg_sq_slot] = larger(largest.of[exp_avg_sq_slot], w.v[k]);
  }
}

template <bool decoupled>
__device__ Largest largest_of(MixedArrays const& a, Sources const& from, StepScalars const& s,
                              std::int64_t count) {
  Largest largest;
  for_each_lanes(count, [&](Lanes const& at) { look_at<decoupled>(a, from, s, at, largest); });
  return largest;
}

// A block may have fewer threads than there are slots.

__device__ void clear(std::int32_t* of_block) {
  for (unsigned slot = threadIdx.x; slot < slots_per_parameter; slot += blockDim.x)
    of_block[slot] = 0;
}

__device__ void bring(std::int32_t const* of_block, WorkPiece const& piece, std::int32_t* amaxes) {
  std::int32_t* const of_parameter = amaxes + std::int64_t{piece.parameter} * slots_per_parameter;
  for (unsigned slot = threadIdx.x; slot < slots_per_parameter; slot += blockDim.x)
    if (is_scaled(piece, static_cast<int>(slot))) atomicMax(of_parameter + slot, of_block[slot]);
}

__global__ void amax_kernel(__grid_constant__ AmaxArguments const arguments) {
  WorkPiece const piece = arguments.step.pieces[blockIdx.x];
  if (piece.formats.scaled == 0) return;
  Section const section = section_of(piece);
  if (section.count == 0) return;
  StepScalars const scalars = arguments.step.table[piece.parameter];
  if (scalars.apply == 0) return;

  __shared__ std::int32_t of_block[slots_per_parameter];
  clear(of_block);
  __syncthreads();

  MixedArrays const arrays =
      arrays_of(arguments.step, piece, factors_of(arguments.step.factors), section.begin);
  Sources const sources = sources_of(piece, scalars);
  Largest const mine = scalars.decoupled != 0
                           ? largest_of<true>(arrays, sources, scalars, section.count)
                           : largest_of<false>(arrays, sources, scalars, section.count);
  for (int slot = 0; slot < slots_per_parameter; ++slot)
    if (is_scaled(piece, slot)) atomicMax(of_block + slot, mine.of[slot]);
  __syncthreads();

  bring(of_block, piece, arguments.amaxes);
}

}  // namespace

void launch_amaxes(AdamArguments const& arguments, std::int32_t* amaxes,
                   WorkListExtent const& extent, Stream const& stream) {
  launch(amax_kernel, grid_of(extent), stream, AmaxArguments{.step = arguments, .amaxes = amaxes});
}

}  // namespace adamant::real
