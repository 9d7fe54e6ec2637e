// Arithmetic:  real/step/adam_element.h; -fmad=false, IEEE division and root.
// Launch:      see real/step/section_grid.h.
// Traffic:     reads w g m v, writes w m v and, beside a main weight, p. All fp32: 16 + 12 = 28
//              bytes an element; 10^9 elements at the 4.3 TB/s of an H200's device-to-device copy
//              take 6.51 ms at best. bf16 p and g, fp32 main weight, moments in bf16: 10 + 10; with
//              a remainder as main weight, 10 + 8, of which p is read and written.
// Formats:     a work list that is fp32 throughout has a kernel of its own: alone, its loop leaves
//              registers for twice the threads. All others are widened to fp32 a few lanes at a
//              time, whatever their formats are: one loop instead of one for each of hundreds of
//              combinations, at the price of a branch a few lanes that all threads of a block take
//              alike. States with a scale are multiplied on their way in and out; amax_kernel.cu
//              has found the new scales before.
// Registers:   real/gpu/KERNELS.md.
#include "real/step/adam_kernel.h"

#include "real/cuda/launch.h"
#include "real/cuda/plain_loops.h"
#include "real/step/adam_pieces.h"
#include "real/step/section_grid.h"

namespace adamant::real {

namespace {

struct StepArguments {
  AdamArguments step;
  SectionGrid grid;
};
static_assert(sizeof(StepArguments) == sizeof(AdamArguments) + 8);  // no padding
static_assert(section_numel % lanes == 0);

/// What a block has to do.
struct Share {
  WorkPiece piece;
  Section section;
  StepScalars scalars;
};

/// False where there is nothing.
__device__ __forceinline__ bool find_share(StepArguments const& a, Share& share) {
  share.piece = a.step.pieces[a.grid.piece_of(blockIdx.x)];
  share.section = a.grid.section_of(share.piece, blockIdx.x);
  if (share.section.count == 0) return false;
  share.scalars = a.step.table[share.piece.parameter];
  return share.scalars.apply != 0;
}

template <typename Arrays>
__device__ __forceinline__ void update(Arrays const& arrays, StepScalars const& s, int count) {
  if (s.decoupled != 0)
    update_section<true>(arrays, s, count);
  else
    update_section<false>(arrays, s, count);
}

__device__ __forceinline__ void update_fp32(StepArguments const& a, Share const& share) {
  Factors const factors = factors_of(a.step.factors);
  update(fp32_arrays_of(a.step, share.piece, factors, share.section.begin), share.scalars,
         share.section.count);
}

__device__ __forceinline__ void update_any_format(StepArguments const& a, Share const& share) {
  Factors const factors = factors_of(a.step.factors);
  update(arrays_of(a.step, share.piece, factors, share.section.begin), share.scalars,
         share.section.count);
}

// One step is one launch of "adam_kernel", whichever it is.

namespace fp32 {
__global__ void __launch_bounds__(threads_per_block, 4)
    adam_kernel(__grid_constant__ StepArguments const a) {
  Share share;
  if (find_share(a, share)) update_fp32(a, share);
}
}  // namespace fp32

namespace all_formats {
__global__ void adam_kernel(__grid_constant__ StepArguments const a) {
  Share share;
  if (!find_share(a, share)) return;
  if (has_plain_loops && is_fp32(share.piece.formats))
    update_fp32(a, share);
  else
    update_any_format(a, share);
}
}  // namespace all_formats

}  // namespace

void launch_adam(AdamArguments const& arguments, WorkListExtent const& extent,
                 Stream const& stream) {
  StepArguments const all = {.step = arguments, .grid = grid_of(extent)};
  launch(extent.is_fp32 ? fp32::adam_kernel : all_formats::adam_kernel, dim3(all.grid.blocks),
         stream, all);
}

}  // namespace adamant::real
