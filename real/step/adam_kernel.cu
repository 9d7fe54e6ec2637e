// Arithmetic:  real/step/adam_element.h; -fmad=false, IEEE division and root.
// Launch:      block (x, y) updates section y of piece x, 4,096 elements, so that 256 threads do
//              four 16-byte accesses to each array; 16 sections a piece keep all multiprocessors
//              busy with a few hundred pieces.
// Traffic:     reads w g m v, writes w m v and, beside a main weight, p. All fp32: 16 + 12 = 28
//              bytes an element; 10^9 elements at the 4.3 TB/s of an H200's device-to-device copy
//              take 6.51 ms at best. bf16 p and g, fp32 main weight, moments in bf16: 10 + 10.
// Formats:     pieces that are fp32 throughout, which need no conversion, have a loop of their own.
//              All others are widened to fp32 a few lanes at a time, whatever their formats are:
//              one loop instead of one for each of 60 combinations, at the price of a branch a few
//              lanes that all threads of a block take alike.
#include "real/step/adam_kernel.h"

#include "real/cuda/assert.h"
#include "real/cuda/launch.h"
#include "real/cuda/plain_loops.h"
#include "real/step/adam_mixed.h"

namespace adamant::real {

namespace {

constexpr std::int64_t section_numel = 4'096;
static_assert(piece_numel_max % section_numel == 0);
static_assert(section_numel % lanes == 0);

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
  std::int64_t const whole = count / 4 * 4;
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

__device__ __forceinline__ Numbers part(std::byte* flat, std::int64_t offset, NumberFormat format,
                                        std::int64_t begin) {
  return {flat + offset + begin * element_bytes(format), format};
}

__device__ Factors factors_of(GradientFactors const& on_device) {
  Factors factors;
  if (on_device.inverse != nullptr) factors.inverse = *on_device.inverse;
  if (on_device.coefficient != nullptr) factors.coefficient = *on_device.coefficient;
  return factors;
}

__device__ __forceinline__ MixedArrays arrays_of(AdamArguments const& a, WorkPiece const& piece,
                                                 Factors const& factors, std::int64_t begin) {
  PieceFormats const& f = piece.formats;
  return {.weight = part(f.copies != 0 ? a.main : a.parameters, piece.weight, f.weight, begin),
          .gradient =
              part(f.cast != 0 ? a.cast_gradients : a.gradients, piece.gradient, f.gradient, begin),
          .exp_avg = part(a.exp_avg, piece.exp_avg, f.exp_avg, begin),
          .exp_avg_sq = part(a.exp_avg_sq, piece.exp_avg_sq, f.exp_avg_sq, begin),
          .parameter = part(a.parameters, piece.parameter_copy, f.parameter, begin),
          .copies = f.copies != 0,
          .factors = factors};
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
  std::int64_t const begin = static_cast<std::int64_t>(blockIdx.y) * section_numel;
  if (begin >= piece.count) return;
  std::int64_t const left = piece.count - begin;
  std::int64_t const count = left < section_numel ? left : section_numel;

  StepScalars const scalars = arguments.table[piece.parameter];
  if (scalars.apply == 0) return;
  MixedArrays const arrays = arrays_of(arguments, piece, factors_of(arguments.factors), begin);
  if (all_fp32(arrays))
    update(as_fp32(arrays), scalars, count);
  else
    update(arrays, scalars, count);
}

__global__ void adam_twin_kernel(__grid_constant__ AdamTwinArguments const a) {
  StepScalars const& s = a.scalars;
  for_each_in_grid(a.numel, [&](std::int64_t i) {
    float const p = number_at(a.weight, i);
    float const handed = number_at(a.gradient, i);
    float const g = s.decoupled != 0 ? handed : handed + s.weight_decay * p;
    float const m = s.beta1 * number_at(a.exp_avg, i) + s.one_minus_beta1 * g;
    float const v = s.beta2 * number_at(a.exp_avg_sq, i) + (s.one_minus_beta2 * g) * g;
    float const m_hat = m / s.correction1;
    float const v_hat = v / s.correction2;
    float const step = m_hat / (sqrtf(v_hat) + s.epsilon);
    float const update = s.decoupled != 0 ? step + s.weight_decay * p : step;
    float const p_new = p - s.learning_rate * update;
    store_number(a.weight, i, p_new);
    store_number(a.exp_avg, i, m);
    store_number(a.exp_avg_sq, i, v);
    if (a.parameter.data != nullptr) store_number(a.parameter, i, p_new);
  });
}

}  // namespace

void launch_adam(AdamArguments const& arguments, WorkListExtent const& extent,
                 Stream const& stream) {
  ADAMANT_REAL_ASSERT(extent.piece_count > 0);
  ADAMANT_REAL_ASSERT(extent.piece_count <= 0x7fffffff);  // the widest grid
  std::int64_t const sections = (extent.longest + section_numel - 1) / section_numel;
  launch(adam_kernel,
         dim3(static_cast<unsigned>(extent.piece_count), static_cast<unsigned>(sections)), stream,
         arguments);
}

void launch_adam_twin(AdamTwinArguments const& arguments, Stream const& stream) {
  if (arguments.numel == 0) return;
  launch(adam_twin_kernel, dim3(blocks_for(arguments.numel)), stream, arguments);
}

}  // namespace adamant::real
