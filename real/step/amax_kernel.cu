// Arithmetic:  that of the step itself, real/step/adam_element.h, as far as the scaled states need
//              it: for moments neither a root nor a division. New values are looked at before they
//              are rounded, and forgotten.
// Launch:      see real/step/section_grid.h. A block meets in shared memory and brings the largest
//              magnitude of each scaled state to the parameter's word by one atomic.
// Traffic:     reads g, those of m and v that have a scale, and under L2 the weight; for the amax
//              of a main weight all four. fp8 moments and bf16 g under AdamW: 4 bytes an element,
//              0.93 ms for 10^9 at 4.3 TB/s. Pieces without a scale end at once.
#include "real/cuda/launch.h"
#include "real/step/adam_kernel.h"
#include "real/step/adam_pieces.h"
#include "real/step/section_grid.h"

namespace adamant::real {

namespace {

struct AmaxArguments {
  AdamArguments step;
  SectionGrid grid;
  std::int32_t* amaxes = nullptr;  // by slot
};
static_assert(sizeof(AmaxArguments) == sizeof(AdamArguments) + 8 + sizeof(void*));  // no padding

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

/// Which states have a scale.
struct Scaled {
  bool weight = false;
  bool exp_avg = false;
  bool exp_avg_sq = false;
};

__device__ __forceinline__ bool is_scaled(WorkPiece const& piece, int slot) {
  return (piece.formats.scaled >> slot & 1) != 0;
}

__device__ __forceinline__ Scaled scaled_of(WorkPiece const& piece) {
  return {.weight = is_scaled(piece, main_slot),
          .exp_avg = is_scaled(piece, exp_avg_slot),
          .exp_avg_sq = is_scaled(piece, exp_avg_sq_slot)};
}

__device__ __forceinline__ Sources sources_of(Scaled const& scaled, StepScalars const& s) {
  bool const all = scaled.weight;
  return {.weight = all || s.decoupled == 0,
          .exp_avg = all || scaled.exp_avg,
          .exp_avg_sq = all || scaled.exp_avg_sq};
}

constexpr std::int32_t infinity = 0x7f800000;

__device__ __forceinline__ std::int32_t magnitude_of(float x) {
  return __float_as_int(x) & 0x7fffffff;
}

__device__ __forceinline__ std::int32_t larger(std::int32_t largest, float x) {
  std::int32_t const magnitude = magnitude_of(x);
  return magnitude < infinity && largest < magnitude ? magnitude : largest;
}

/// The new values in place of the old ones; of states without a scale nothing that counts.
template <bool decoupled>
__device__ __forceinline__ void renew(Widened& w, Scaled const& scaled, StepScalars const& s) {
  if (scaled.weight) {
    for (int k = 0; k < lanes; ++k) update_one<decoupled>(w, s, k);
    return;
  }
  for (int k = 0; k < lanes; ++k) w.g[k] = decayed<decoupled>(s, w.g[k], w.p[k]);
  if (scaled.exp_avg)
    for (int k = 0; k < lanes; ++k) w.m[k] = next_exp_avg(s, w.m[k], w.g[k]);
  if (scaled.exp_avg_sq)
    for (int k = 0; k < lanes; ++k) w.v[k] = next_exp_avg_sq(s, w.v[k], w.g[k]);
}

/// Numbers are mostly finite, which is seen of all of them at once. Lanes that are none hold zeros,
/// or NaNs where a factor is one: they raise nothing.
__device__ __forceinline__ void raise(std::int32_t& largest, float const* numbers) {
  std::int32_t most = largest;
  for (int k = 0; k < lanes; ++k) {
    std::int32_t const magnitude = magnitude_of(numbers[k]);
    most = most < magnitude ? magnitude : most;
  }
  if (most >= infinity) {
    most = largest;
    for (int k = 0; k < lanes; ++k) most = larger(most, numbers[k]);
  }
  largest = most;
}

template <bool decoupled>
__device__ __forceinline__ void look_at(MixedArrays const& a, Scaled const& scaled,
                                        StepScalars const& s, Lanes const& at, Largest& largest) {
  Sources const from = sources_of(scaled, s);
  Widened w = {};
  read_gradients(a, at, w.g);
  if (from.weight) read_weights<false>(a, at, w.p);
  if (from.exp_avg) read_state<false>(a.exp_avg, a.exp_avg_scale, at, w.m);
  if (from.exp_avg_sq) read_state<false>(a.exp_avg_sq, a.exp_avg_sq_scale, at, w.v);
  renew<decoupled>(w, scaled, s);
  if (scaled.weight) raise(largest.of[main_slot], w.p);
  if (scaled.exp_avg) raise(largest.of[exp_avg_slot], w.m);
  if (scaled.exp_avg_sq) raise(largest.of[exp_avg_sq_slot], w.v);
}

template <bool decoupled>
__device__ Largest largest_of(MixedArrays const& arrays, Scaled const& scaled,
                              StepScalars const& scalars, int count) {
  MixedArrays const a = arrays;
  StepScalars const s = scalars;
  Largest largest;
  for_each_lanes(count, [&](Lanes const& at) { look_at<decoupled>(a, scaled, s, at, largest); });
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

__global__ void __launch_bounds__(threads_per_block, 4)
    amax_kernel(__grid_constant__ AmaxArguments const arguments) {
  WorkPiece const piece = arguments.step.pieces[arguments.grid.piece_of(blockIdx.x)];
  if (piece.formats.scaled == 0) return;
  Section const section = arguments.grid.section_of(piece, blockIdx.x);
  if (section.count == 0) return;
  StepScalars const scalars = arguments.step.table[piece.parameter];
  if (scalars.apply == 0) return;

  __shared__ std::int32_t of_block[slots_per_parameter];
  clear(of_block);
  __syncthreads();

  MixedArrays const arrays =
      arrays_of(arguments.step, piece, factors_of(arguments.step.factors), section.begin);
  Scaled const scaled = scaled_of(piece);
  Largest const mine = scalars.decoupled != 0
                           ? largest_of<true>(arrays, scaled, scalars, section.count)
                           : largest_of<false>(arrays, scaled, scalars, section.count);
  for (int slot = 0; slot < slots_per_parameter; ++slot)
    if (is_scaled(piece, slot)) atomicMax(of_block + slot, mine.of[slot]);
  __syncthreads();

  bring(of_block, piece, arguments.amaxes);
}

}  // namespace

void launch_amaxes(AdamArguments const& arguments, std::int32_t* amaxes,
                   WorkListExtent const& extent, Stream const& stream) {
  SectionGrid const grid = grid_of(extent);
  launch(amax_kernel, dim3(grid.blocks), stream,
         AmaxArguments{.step = arguments, .grid = grid, .amaxes = amaxes});
}

}  // namespace adamant::real
