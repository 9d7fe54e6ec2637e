// Adam and AdamW for one element, in registers: the only place of the engine where their arithmetic
// is written for production. It knows nothing of tensors, shards or steps.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "real/bug.h"
#include "real/step/step_table.h"

namespace adamant::real {

struct AdamElement {
  float p = 0;
  float m = 0;
  float v = 0;
};

/// Which arithmetic a kernel runs: the right one, or the one that a selected bug spoils.
enum class Arithmetic { right, spoilt };

template <Arithmetic arithmetic>
__host__ __device__ __forceinline__ bool spoilt_by(Bug bug) {
  return arithmetic == Arithmetic::spoilt && bug_is(bug);
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
template <bool decoupled, Arithmetic arithmetic>
__host__ __device__ __forceinline__ AdamElement adam_element(StepScalars const& s, float g,
                                                             AdamElement e) {
  bool const decay_in_update = decoupled != spoilt_by<arithmetic>(Bug::modes_mixed);
  if (!decay_in_update) g = g + s.weight_decay * e.p;

  bool const swapped = spoilt_by<arithmetic>(Bug::moments_swapped);
  float const b1 = swapped ? s.beta2 : s.beta1;
  float const b2 = swapped ? s.beta1 : s.beta2;
  float const m_new = s.one_minus_beta1 * g;
  float const v_new = spoilt_by<arithmetic>(Bug::square_first) ? s.one_minus_beta2 * (g * g)
                                                               : (s.one_minus_beta2 * g) * g;
  float const m =
      spoilt_by<arithmetic>(Bug::fused_multiply_add) ? std::fma(b1, e.m, m_new) : b1 * e.m + m_new;
  float v = b2 * e.v + v_new;
  if (spoilt_by<arithmetic>(Bug::te_1744) && std::fabs(v) < 0x1p-126F) v = 0;

  float const v_hat = v / s.correction2;
  float const denominator = spoilt_by<arithmetic>(Bug::epsilon_inside_root)
                                ? sqrtf(v_hat + s.epsilon)
                                : sqrtf(v_hat) + s.epsilon;
  float update = (m / s.correction1) / denominator;
  if (spoilt_by<arithmetic>(Bug::oneflow_5960)) {
    float const rate = s.learning_rate * sqrtf(s.correction2) / s.correction1;
    float const decay = decay_in_update ? s.weight_decay * e.p : 0;
    return {.p = e.p - rate * (m / (sqrtf(v) + s.epsilon) + decay), .m = m, .v = v};
  }
  if (spoilt_by<arithmetic>(Bug::decay_applied_twice) && decay_in_update)
    e.p = e.p - s.learning_rate * (s.weight_decay * e.p);
  if (spoilt_by<arithmetic>(Bug::decay_after_update)) {
    float const p = e.p - s.learning_rate * update;
    return {.p = p - s.learning_rate * (s.weight_decay * p), .m = m, .v = v};
  }
  if (decay_in_update) update = update + s.weight_decay * e.p;
  return {.p = e.p - s.learning_rate * update, .m = m, .v = v};
}

}  // namespace adamant::real
