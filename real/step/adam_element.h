// Adam and AdamW for one element, in registers: the only place of the engine where their arithmetic
// is written for production. It knows nothing of tensors, shards or steps.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "real/step/step_table.h"

namespace adamant::real {

struct AdamElement {
  float p = 0;
  float m = 0;
  float v = 0;
};

// Parts of a step, for whoever needs no more of it.

/// The gradient that moments are made of: under L2 with the decay.
template <bool decoupled>
__host__ __device__ __forceinline__ float decayed(StepScalars const& s, float g, float p) {
  return decoupled ? g : g + s.weight_decay * p;
}
__host__ __device__ __forceinline__ float next_exp_avg(StepScalars const& s, float m, float g) {
  return s.beta1 * m + s.one_minus_beta1 * g;
}
__host__ __device__ __forceinline__ float next_exp_avg_sq(StepScalars const& s, float v, float g) {
  return s.beta2 * v + (s.one_minus_beta2 * g) * g;
}

/// One element's step.
///
///   L2:     g <- g + wd p                      AdamW: g as it is
///   m <- b1 m + (1 - b1) g                     v <- b2 v + ((1 - b2) g) g
///   u <- (m / c1) / (sqrt(v / c2) + eps)       AdamW: u <- u + wd p
///   p <- p - lr u
///
/// Rounding: every operation once, to nearest, in fp32; nothing fused (build with -fmad=false or
///           -ffp-contract=off). NaN and infinity flow through.
/// Source:   domain sheet 1.3, order "sep": TransformerEngine's FusedAdam without contraction.
template <bool decoupled>
__host__ __device__ __forceinline__ AdamElement adam_element(StepScalars const& s, float g,
                                                             AdamElement e) {
  g = decayed<decoupled>(s, g, e.p);

  float const m = next_exp_avg(s, e.m, g);
  float const v = next_exp_avg_sq(s, e.v, g);

  float const m_hat = m / s.correction1;
  float const v_hat = v / s.correction2;
  float update = m_hat / (sqrtf(v_hat) + s.epsilon);
  if (decoupled) update = update + s.weight_decay * e.p;
  return {.p = e.p - s.learning_rate * update, .m = m, .v = v};
}

}  // namespace adamant::real
