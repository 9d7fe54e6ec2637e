// The step of pieces that are fp32 throughout, which need no conversion: four elements of each
// array at a time by 16-byte accesses. The next ones are asked for before those at hand are
// computed, so that a thread waits for memory once and not once a round. It knows neither pieces
// nor tables.
#pragma once

#include <cstdint>

#include "real/cuda/lanes.h"
#include "real/cuda/plain_loops.h"
#include "real/step/adam_element.h"
#include "real/step/factors.h"

namespace adamant::real {

struct Fp32Arrays {
  float* p = nullptr;
  float const* g = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  Factors factors;
};

/// Four elements of all arrays.
struct Fours {
  Packed<float> p;
  Packed<float> g;
  Packed<float> m;
  Packed<float> v;
};

__device__ __forceinline__ bool are_packed(Fp32Arrays const& a) {
  return is_packed(a.p) && is_packed(a.g) && is_packed(a.m) && is_packed(a.v);
}

__device__ __forceinline__ Fours load_fours(Fp32Arrays const& a, int i) {
  Fours fours;
  fours.g = load_packed(a.g + i);
  fours.p = load_packed(a.p + i);
  fours.m = load_packed(a.m + i);
  fours.v = load_packed(a.v + i);
  return fours;
}

template <bool decoupled>
__device__ __forceinline__ void update_fours(Fp32Arrays const& a, StepScalars const& s, Fours& at,
                                             int i) {
  for (int k = 0; k < 4; ++k) {
    AdamElement const e = adam_element<decoupled>(
        s, a.factors(at.g.at[k]), {.p = at.p.at[k], .m = at.m.at[k], .v = at.v.at[k]});
    at.p.at[k] = e.p;
    at.m.at[k] = e.m;
    at.v.at[k] = e.v;
  }
  store_packed(at.p, a.p + i);
  store_packed(at.m, a.m + i);
  store_packed(at.v, a.v + i);
}

/// REQUIRES: are_packed(a), `whole` is a multiple of 4.
template <bool decoupled>
__device__ __forceinline__ void update_packed(Fp32Arrays const& a, StepScalars const& s,
                                              int whole) {
  int const stride = 4 * static_cast<int>(blockDim.x);
  int i = 4 * static_cast<int>(threadIdx.x);
  if (i >= whole) return;
  Fours at = load_fours(a, i);
  for (int next = i + stride; next < whole; next += stride) {
    Fours const ahead = load_fours(a, next);
    update_fours<decoupled>(a, s, at, i);
    at = ahead;
    i = next;
  }
  update_fours<decoupled>(a, s, at, i);
}

template <bool decoupled>
__device__ __forceinline__ void update_one(Fp32Arrays const& a, StepScalars const& s, int i) {
  float const g = a.g[i];  // before the others, whatever order a compiler has for arguments
  AdamElement const e =
      adam_element<decoupled>(s, a.factors(g), {.p = a.p[i], .m = a.m[i], .v = a.v[i]});
  a.p[i] = e.p;
  a.m[i] = e.m;
  a.v[i] = e.v;
}

template <bool decoupled>
__device__ __forceinline__ void update_section(Fp32Arrays const& arrays, StepScalars const& scalars,
                                               int count) {
  Fp32Arrays const a = arrays;  // copies that no store in the loop can alias
  StepScalars const s = scalars;
  if constexpr (has_plain_loops) {
    for (int i = 0; i < count; ++i) update_one<decoupled>(a, s, i);
    return;
  }
  int const whole = are_packed(a) ? count / 4 * 4 : 0;
  update_packed<decoupled>(a, s, whole);
  int const stride = static_cast<int>(blockDim.x);
  for (int i = whole + static_cast<int>(threadIdx.x); i < count; i += stride)
    update_one<decoupled>(a, s, i);
}

}  // namespace adamant::real
