// Arithmetic:  real/step/adam_element.h; -fmad=false, IEEE division and root.
// Launch:      block (x, y) updates section y of piece x. On a GPU a section is 4,096 elements, so
//              256 threads do four 16-byte accesses to each array; 16 sections a piece keep all
//              multiprocessors busy with a few hundred pieces. On a CPU a section is a piece.
// Traffic:     reads p g m v, writes p m v: 16 + 12 = 28 bytes an element; 10^9 elements at the
//              4.3 TB/s of an H200's device-to-device copy take 6.51 ms at best.
#include "real/cuda/assert.h"
#include "real/cuda/launch.h"
#include "real/step/adam_element.h"
#include "real/step/adam_kernel.h"

namespace adamant::real {

namespace {

#ifdef __CUDACC__
constexpr std::int64_t section_numel = 4'096;
#else
constexpr std::int64_t section_numel = piece_numel_max;
#endif
static_assert(piece_numel_max % section_numel == 0);
static_assert(section_numel % 4 == 0);

struct Arrays {
  float* p = nullptr;
  float const* g = nullptr;
  float* m = nullptr;
  float* v = nullptr;
};

template <bool decoupled, Arithmetic arithmetic>
__device__ inline void update_one(Arrays const& a, StepScalars const& s, std::int64_t i) {
  AdamElement const e =
      adam_element<decoupled, arithmetic>(s, a.g[i], {.p = a.p[i], .m = a.m[i], .v = a.v[i]});
  a.p[i] = e.p;
  a.m[i] = e.m;
  a.v[i] = e.v;
}

#ifdef __CUDACC__

template <bool decoupled, Arithmetic arithmetic>
__device__ inline void update_four(Arrays const& a, StepScalars const& s, std::int64_t i) {
  float4 const g = reinterpret_cast<float4 const*>(a.g)[i];
  float4 p = reinterpret_cast<float4*>(a.p)[i];
  float4 m = reinterpret_cast<float4*>(a.m)[i];
  float4 v = reinterpret_cast<float4*>(a.v)[i];
  auto const update = [&](float gradient, float& pe, float& me, float& ve) {
    AdamElement const e =
        adam_element<decoupled, arithmetic>(s, gradient, {.p = pe, .m = me, .v = ve});
    pe = e.p;
    me = e.m;
    ve = e.v;
  };
  update(g.x, p.x, m.x, v.x);
  update(g.y, p.y, m.y, v.y);
  update(g.z, p.z, m.z, v.z);
  update(g.w, p.w, m.w, v.w);
  reinterpret_cast<float4*>(a.p)[i] = p;
  reinterpret_cast<float4*>(a.m)[i] = m;
  reinterpret_cast<float4*>(a.v)[i] = v;
}

template <bool decoupled, Arithmetic arithmetic>
__device__ void update_section(Arrays const& a, StepScalars const& s, std::int64_t count) {
  std::int64_t const vectors = count / 4;
  for (std::int64_t i = threadIdx.x; i < vectors; i += blockDim.x)
    update_four<decoupled, arithmetic>(a, s, i);
  for (std::int64_t i = vectors * 4 + threadIdx.x; i < count; i += blockDim.x)
    update_one<decoupled, arithmetic>(a, s, i);
}

#else

template <bool decoupled, Arithmetic arithmetic>
__device__ void update_section(Arrays const& arrays, StepScalars const& scalars,
                               std::int64_t count) {
  Arrays const a = arrays;        // copies that no store in the loop can alias:
  StepScalars const s = scalars;  // without them the loop is not vectorised
  std::int64_t const end = ADAMANT_BUG(kernel_reads_past_end) ? count + 1 : count;
  for (std::int64_t i = 0; i < end; ++i) update_one<decoupled, arithmetic>(a, s, i);
}

#endif

template <Arithmetic arithmetic>
__device__ void update(Arrays const& a, StepScalars const& s, std::int64_t count) {
  if (s.decoupled != 0)
    update_section<true, arithmetic>(a, s, count);
  else
    update_section<false, arithmetic>(a, s, count);
}

__device__ void decay_only(Arrays const& a, StepScalars const& s, std::int64_t count) {
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
    a.p[i] = a.p[i] - s.learning_rate * (s.weight_decay * a.p[i]);
}

__global__ void adam_kernel(__grid_constant__ AdamArguments const arguments) {
  WorkPiece const piece = arguments.pieces[blockIdx.x];
  std::int64_t const begin = static_cast<std::int64_t>(blockIdx.y) * section_numel;
  if (begin >= piece.count) return;
  std::int64_t const left = piece.count - begin;
  std::int64_t const count = left < section_numel ? left : section_numel;

  StepScalars const scalars = arguments.table[piece.parameter];
  Arrays const arrays = {.p = arguments.parameters + piece.offset + begin,
                         .g = arguments.gradients + piece.gradient_offset + begin,
                         .m = arguments.exp_avg + piece.offset + begin,
                         .v = arguments.exp_avg_sq + piece.offset + begin};
  if (scalars.apply == 0) {
    if (ADAMANT_BUG(decay_without_gradient)) decay_only(arrays, scalars, count);
    return;
  }
  if (bug_in_arithmetic())
    update<Arithmetic::spoilt>(arrays, scalars, count);
  else
    update<Arithmetic::right>(arrays, scalars, count);
}

__global__ void adam_twin_kernel(__grid_constant__ AdamTwinArguments const a) {
  StepScalars const& s = a.scalars;
  for_each_in_grid(a.numel, [&](std::int64_t i) {
    float const p = a.parameter[i];
    float const g = s.decoupled != 0 ? a.gradient[i] : a.gradient[i] + s.weight_decay * p;
    float const m = s.beta1 * a.exp_avg[i] + s.one_minus_beta1 * g;
    float const v = s.beta2 * a.exp_avg_sq[i] + (s.one_minus_beta2 * g) * g;
    float const m_hat = m / s.correction1;
    float const v_hat = v / s.correction2;
    float const step = m_hat / (sqrtf(v_hat) + s.epsilon);
    float const update = s.decoupled != 0 ? step + s.weight_decay * p : step;
    a.parameter[i] = p - s.learning_rate * update;
    a.exp_avg[i] = m;
    a.exp_avg_sq[i] = v;
  });
}

}  // namespace

void launch_adam(AdamArguments const& arguments, std::int64_t piece_count, Stream const& stream) {
  ADAMANT_REAL_ASSERT(piece_count > 0);
  ADAMANT_REAL_ASSERT(piece_count <= 0x7fffffff);  // the widest grid
  constexpr unsigned sections = piece_numel_max / section_numel;
  launch(adam_kernel, dim3(static_cast<unsigned>(piece_count), sections), stream, arguments);
}

void launch_adam_twin(AdamTwinArguments const& arguments, Stream const& stream) {
  if (arguments.numel == 0) return;
  launch(adam_twin_kernel, dim3(blocks_for(arguments.numel)), stream, arguments);
}

}  // namespace adamant::real
