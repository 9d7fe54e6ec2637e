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
  if (!decoupled) g = g + s.weight_decay * e.p;

  float const m = s.beta1 * e.m + s.one_minus_beta1 * g;
  float const v = s.beta2 * e.v + (s.one_minus_beta2 * g) * g;

  float const m_hat = m / s.correction1;
  float const v_hat = v / s.correction2;
  float update = m_hat / (sqrtf(v_hat) + s.epsilon);
  if (decoupled) update = update + s.weight_decay * e.p;
  return {.p = e.p - s.learning_rate * update, .m = m, .v = v};
}

}  // namespace adamant::real
