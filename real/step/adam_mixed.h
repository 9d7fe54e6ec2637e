// The step of pieces that are not fp32 throughout: a few lanes at a time are widened to fp32,
// updated and rounded to what their arrays store, each array in its own format and by its own
// scale. It knows neither pieces nor tables.
#pragma once

#include <cstdint>

#include "real/cuda/lanes.h"
#include "real/step/adam_element.h"
#include "real/step/factors.h"
#include "real/step/halves.h"

namespace adamant::real {

/// What stored numbers of a state are read times, and new ones are stored times, each product
/// rounded.
struct Scale {
  float read = 1;
  float write = 1;
};

struct MixedArrays {
  Numbers weight;
  Numbers gradient;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter;
  bool copies = false;  // to `parameter`
  bool plain = true;    // no state has a scale, and weights are not in halves
  Factors factors;
  Scale weight_scale = {};
  Scale exp_avg_scale = {};
  Scale exp_avg_sq_scale = {};
};

/// The same lanes of all arrays in fp32.
struct Widened {
  float p[lanes];
  float g[lanes];
  float m[lanes];
  float v[lanes];
};

// ---- from and to what is stored -----------------------------------------------------------------
// Plain arrays do not pay for others, not even by a look at their scales.

__device__ __forceinline__ void multiply(float* numbers, float factor) {
  for (int k = 0; k < lanes; ++k) numbers[k] = numbers[k] * factor;
}

template <bool plain>
__device__ __forceinline__ void read_state(Numbers const& state, Scale const& scale,
                                           Lanes const& at, float* to) {
  load(state, at, to);
  if constexpr (!plain) multiply(to, scale.read);
}

/// Changes `from`.
template <bool plain>
__device__ __forceinline__ void write_state(float* from, Numbers const& state, Scale const& scale,
                                            Lanes const& at) {
  if constexpr (!plain) multiply(from, scale.write);
  store(from, state, at);
}

/// Of weights whose remainders are kept.
__device__ __forceinline__ Halves halves(MixedArrays const& a) {
  return {.parameters = static_cast<std::uint16_t*>(a.parameter.data),
          .remainders = static_cast<std::uint16_t*>(a.weight.data)};
}

__device__ __forceinline__ bool has_halves(MixedArrays const& a) {
  return a.weight.format == NumberFormat::remainder;
}

template <bool plain>
__device__ __forceinline__ void read_weights(MixedArrays const& a, Lanes const& at, float* to) {
  if (!plain && has_halves(a)) return load(halves(a), at, to);
  read_state<plain>(a.weight, a.weight_scale, at, to);
}

/// The parameter is rounded from the same numbers as the weight beside it. Changes `from`.
template <bool plain>
__device__ __forceinline__ void write_weights(float* from, MixedArrays const& a, Lanes const& at) {
  if (!plain && has_halves(a)) return store(from, halves(a), at);
  if (a.copies) store(from, a.parameter, at);
  write_state<plain>(from, a.weight, a.weight_scale, at);
}

__device__ __forceinline__ void read_gradients(MixedArrays const& a, Lanes const& at, float* to) {
  load(a.gradient, at, to);
  for (int k = 0; k < lanes; ++k) to[k] = a.factors(to[k]);
}

// ---- the step -----------------------------------------------------------------------------------

template <bool decoupled>
__device__ __forceinline__ void update_one(Widened& w, StepScalars const& s, int k) {
  AdamElement const e = adam_element<decoupled>(s, w.g[k], {.p = w.p[k], .m = w.m[k], .v = w.v[k]});
  w.p[k] = e.p;
  w.m[k] = e.m;
  w.v[k] = e.v;
}

template <bool decoupled, bool plain>
__device__ __forceinline__ void update_lanes(MixedArrays const& a, StepScalars const& s,
                                             Lanes const& at) {
  Widened w = {};
  read_weights<plain>(a, at, w.p);
  read_gradients(a, at, w.g);
  read_state<plain>(a.exp_avg, a.exp_avg_scale, at, w.m);
  read_state<plain>(a.exp_avg_sq, a.exp_avg_sq_scale, at, w.v);
  for (int k = 0; k < lanes; ++k) update_one<decoupled>(w, s, k);
  write_weights<plain>(w.p, a, at);
  write_state<plain>(w.m, a.exp_avg, a.exp_avg_scale, at);
  write_state<plain>(w.v, a.exp_avg_sq, a.exp_avg_sq_scale, at);
}

template <bool decoupled, bool plain>
__device__ void update_all(MixedArrays const& arrays, StepScalars const& scalars, int count) {
  MixedArrays const a = arrays;  // copies that no store in the loop can alias
  StepScalars const s = scalars;
  for_each_lanes(count, [&](Lanes const& at) { update_lanes<decoupled, plain>(a, s, at); });
}

template <bool decoupled>
__device__ void update_section(MixedArrays const& a, StepScalars const& s, int count) {
  if (a.plain)
    update_all<decoupled, true>(a, s, count);
  else
    update_all<decoupled, false>(a, s, count);
}

}  // namespace adamant::real
