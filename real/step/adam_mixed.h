// The step of pieces that are not fp32 throughout: a few lanes at a time are widened to fp32,
// updated and rounded to what their arrays store, each array in its own format. It knows neither
// pieces nor tables.
#pragma once

#include <cstdint>

#include "real/cuda/lanes.h"
#include "real/step/adam_element.h"

namespace adamant::real {

/// The factors of a launch, read once a block. Times 1 is exact, so there is no case without.
struct Factors {
  float inverse = 1;
  float coefficient = 1;

  __device__ __forceinline__ float operator()(float gradient) const {
    return (gradient * inverse) * coefficient;
  }
};

struct MixedArrays {
  Numbers weight;
  Numbers gradient;
  Numbers exp_avg;
  Numbers exp_avg_sq;
  Numbers parameter;
  bool copies = false;  // to `parameter`
  Factors factors;
};

/// The same lanes of all arrays in fp32.
struct Widened {
  float p[lanes];
  float g[lanes];
  float m[lanes];
  float v[lanes];
};

template <bool decoupled>
__device__ __forceinline__ void update_one(Widened& w, StepScalars const& s, int k) {
  AdamElement const e = adam_element<decoupled>(s, w.g[k], {.p = w.p[k], .m = w.m[k], .v = w.v[k]});
  w.p[k] = e.p;
  w.m[k] = e.m;
  w.v[k] = e.v;
}

template <bool decoupled>
__device__ __forceinline__ void update_lanes(MixedArrays const& a, StepScalars const& s,
                                             Lanes const& at) {
  Widened w = {};
  load(a.weight, at, w.p);
  load(a.gradient, at, w.g);
  load(a.exp_avg, at, w.m);
  load(a.exp_avg_sq, at, w.v);
  for (int k = 0; k < lanes; ++k) w.g[k] = a.factors(w.g[k]);
  for (int k = 0; k < lanes; ++k) update_one<decoupled>(w, s, k);
  store(w.p, a.weight, at);
  store(w.m, a.exp_avg, at);
  store(w.v, a.exp_avg_sq, at);
  if (a.copies) store(w.p, a.parameter, at);
}

template <bool decoupled>
__device__ void update_section(MixedArrays const& arrays, StepScalars const& scalars,
                               std::int64_t count) {
  MixedArrays const a = arrays;  // copies that no store in the loop can alias
  StepScalars const s = scalars;
  std::int64_t const stride = static_cast<std::int64_t>(blockDim.x) * lanes;
  for (std::int64_t begin = threadIdx.x * std::int64_t{lanes}; begin < count; begin += stride) {
    std::int64_t const left = count - begin;
    update_lanes<decoupled>(
        a, s, {.begin = begin, .count = left < lanes ? static_cast<int>(left) : lanes});
  }
}

}  // namespace adamant::real
