// One step of Adam or AdamW in binary32: what "correct" means everywhere else in adamant.
//
// It sees whole tensors. It knows nothing of ranks, shards, streams or files, so no mistake in
// those can leak into the answer they are judged by.
#pragma once

#include <cstdint>
#include <span>

#include "oracle/types.h"

namespace adamant::oracle {

/// Advances `param`, `m` and `v` by one step in place, each element on its own. With g the
/// gradient, p the parameter, c1 and c2 the bias corrections of `step`:
///
///   adam:   g <- g + weight_decay p             (L2: the decay enters the moments)
///   both:   m <- beta1 m + (1 - beta1) g        m_hat = m / c1
///           v <- beta2 v + ((1 - beta2) g) g    v_hat = v / c2
///   adam:   u = m_hat / (sqrt(v_hat) + epsilon)
///   adamw:  u = m_hat / (sqrt(v_hat) + epsilon) + weight_decay p
///   both:   p <- p - learning_rate u
///
/// Shapes:   all four are flat [numel] and disjoint; numel 0 is a no-op.
/// Units:    m in gradient units, v in gradient units squared; `step` is a count, the first is 1.
/// Rounding: each operation above rounds once, to nearest even, in binary32, in the order in which
///           the parentheses and the usual precedence put it; 1 - beta is such an operation too.
///           Nothing is fused, reordered, approximated or flushed, and nothing is skipped: a decay
///           of 0 still computes 0 p, which is NaN where p is infinite.
/// Errors:   asserts equal lengths and step >= 1. NaN and infinity flow through.
/// Source:   Kingma & Ba 2015, Algorithm 1; decay of adamw from Loshchilov & Hutter 2019, Algorithm
///           2. Order of operations of TransformerEngine's fused kernels without their contraction
///           and fast maths; PyTorch decays p first and divides sqrt(v), not v, by its correction.
///
/// Worked:   p 1, m = v = 0, g 0.5, defaults, step 1 -> p 0x1.ff7b9ep-1 (0.99899).
void adam_step(AdamConfig const& config, std::int64_t step, std::span<float const> grad,
               std::span<float> param, std::span<float> m, std::span<float> v);

}  // namespace adamant::oracle
