// Arithmetic:  real/step/adam_element.h; -fmad=false, IEEE division and root.
// Launch:      see real/step/adam_pieces.h.
// Traffic:     reads w g m v, writes w m v and, beside a main weight, p. All fp32: 16 + 12 = 28
//              bytes an element; 10^9 elements at the 4.3 TB/s of an H200's device-to-device copy
//              take 6.51 ms at best. bf16 p and g, fp32 main weight, moments in bf16: 10 + 10; with
//              a remainder as main weight, 10 + 8, of which p is read and written.
// Formats:     pieces that are fp32 throughout, which need no conversion, have a loop of their own.
//              All others are widened to fp32 a few lanes at a time, whatever their formats are:
//              one loop instead of one for each of hundreds of combinations, at the price of a
//              branch a few lanes that all threads of a block take alike. States with a scale are
//              multiplied on their way in and out; amax_kernel.cu has found the new scales before.
#include "real/step/adam_kernel.h"

#include "real/cuda/launch.h"
#include "real/cuda/plain_loops.h"
#include "real/step/adam_pieces.h"

namespace adamant::real {

namespace {

// ---- pieces that are fp32 throughout ------------------------------------------------------

struct Arrays {
  float* p = nullptr;
  float const* g = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  Factors factors;
};

template <bool decoupled>
__device__ __forceinline__ void update_one(Arrays const& a, StepScalars const& s, std::int64_t i) {
  AdamElement const e =
      adam_element<decoupled>(s, a.factors(a.g[i]), {.p = a.p[i], .m = a.m[i], .v = a.v[i]});
  a.p[i] = e.p;
  a.m[i] = e.m;
  a.v[i] = e.v;
}

template <bool decoupled>
__device__ __forceinline__ void update_four(Arrays const& a, StepScalars const& s, std::int64_t i) {
  Packed<float> const g = load_packed(a.g + i);
  Packed<float> p = load_packed(a.p + i);
  Packed<float> m = load_packed(a.m + i);
  Packed<float> v = load_packed(a.v + i);
  for (int k = 0; k < 4; ++k) {
    AdamElement const e =
        adam_element<decoupled>(s, a.factors(g.at[k]), {.p = p.at[k], .m = m.at[k], .v = v.at[k]});
    p.at[k] = e.p;
    m.at[k] = e.m;
    v.at[k] = e.v;
  }
  store_packed(p, a.p + i);
  store_packed(m, a.m + i);
  store_packed(v, a.v + i);
}

template <bool decoupled>
__device__ void update_section(Arrays const& arrays, StepScalars const& scalars,
                               std::int64_t count) {
  Arrays const a = arrays;  // copies that no store in the loop can alias
  StepScalars const s = scalars;
  if constexpr (has_plain_loops) {
    for (std::int64_t i = 0; i < count; ++i) update_one<decoupled>(a, s, i);
    return;
  }
  bool const packed = is_packed(a.p) && is_packed(a.g) && is_packed(a.m) && is_packed(a.v);
  std::int64_t const whole = packed ? count / 4 * 4 : 0;
  std::int64_t const stride = blockDim.x;
  for (std::int64_t i = threadIdx.x * std::int64_t{4}; i < whole; i += 4 * stride)
    update_four<decoupled>(a, s, i);
  for (std::int64_t i = whole + threadIdx.x; i < count; i += stride) update_one<decoupled>(a, s, i);
}

// ---- a block ------------------------------------------------------------------------------

template <typename ArraysOfPiece>
__device__ void update(ArraysOfPiece const& a, StepScalars const& s, std::int64_t count) {
  if (s.decoupled != 0)
    update_section<true>(a, s, count);
  else
    update_section<false>(a, s, count);
}

__device__ __forceinline__ bool all_fp32(MixedArrays const& a) {
  return a.weight.format == NumberFormat::fp32 && a.gradient.format == NumberFormat::fp32 &&
         a.exp_avg.format == NumberFormat::fp32 && a.exp_avg_sq.format == NumberFormat::fp32 &&
         !a.copies;
}

__device__ __forceinline__ Arrays as_fp32(MixedArrays const& a) {
  return {.p = static_cast<float*>(a.weight.data),
          .g = static_cast<float const*>(a.gradient.data),
          .m = static_cast<float*>(a.exp_avg.data),
          .v = static_cast<float*>(a.exp_avg_sq.data),
          .factors = a.factors};
}

__global__ void adam_kernel(__grid_constant__ AdamArguments const arguments) {
  WorkPiece const piece = arguments.pieces[blockIdx.x];
  Section const section = section_of(piece);
  if (section.count == 0) return;
  StepScalars const scalars = arguments.table[piece.parameter];
  if (scalars.apply == 0) return;
  MixedArrays const arrays =
      arrays_of(arguments, piece, factors_of(arguments.factors), section.begin);
  if (all_fp32(arrays))
    update(as_fp32(arrays), scalars, section.count);
  else
    update(arrays, scalars, section.count);
}

}  // namespace

void launch_adam(AdamArguments const& arguments, WorkListExtent const& extent,
                 Stream const& stream) {
  launch(adam_kernel, grid_of(extent), stream, arguments);
}

}  // namespace adamant::real
