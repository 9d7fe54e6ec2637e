// One step of PyTorch's Adam and AdamW (single and foreach, and fused on whole vectors) on binary32
// tensors of a CPU with fused multiply-add: both moments bit for bit, the parameter up to PyTorch's
// square root. It sees single elements and knows no tensors, shards or files.
//
// With b the moments' betas, all scalars computed in binary64 from binary32 settings and rounded to
// binary32 where they meet a tensor, and fma a product and a sum with one rounding:
//
//   adam with decay:  g <- fma(p, decay, g)                                     grad.add(param,
//   alpha) d = fl(g - m) m <- fma(w1, d, m)      if |w1| < 1/2,  w1 = fl(1 - b1) exp_avg.lerp_
//        fma(fl(w1 - 1), d, g) otherwise
//   v <- fma(fl(w2 g), g, fl(b2 v)),        w2 = fl(1 - b2)                mul_(b2).addcmul_(g, g,
//   w2) adamw with decay: p <- fl(p fl(1 - lr decay)) D = fl(fl(root / fl(sqrt(c2))) + epsilon),
//   root within one step of sqrt(v) p <- fl(p + fl(fl(-lr / c1 m) / D)) addcdiv_(exp_avg, D, -lr /
//   c1)
//
// A decay of 0 is skipped. Found by comparison with torch 2.13.0+cpu, AVX512 and AVX2: 4 million
// moments without a difference, random patterns, subnormals, infinities and NaN among them, in
// tensors of 1 to 5,000 elements (1.5 million in tensors of whole vectors for the fused kernel,
// whose weights were inside as well), but for one: where beta1 is 0 and g is -0, the product in m
// is a zero whose sign differs between vector lanes and the tail of a tensor, so that m may be
// either zero. Without fused multiply-add (ATEN_CPU_CAPABILITY=default) 1 moment in 25 differs:
// such machines are for oracle/interval.
#pragma once

#include <cstdint>

#include "oracle/interval/admissible.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// One step of one group's parameters.
class TorchStep {
 public:
  /// Units: `step` is the count t of steps, this one included. Errors: asserts step >= 1.
  TorchStep(AdamConfig const& config, std::int64_t step);

  /// One element before the step.
  struct Before {
    float gradient = 0.0F;
    float weight = 0.0F;
    float exp_avg = 0.0F;
    float exp_avg_sq = 0.0F;
  };
  float exp_avg(Before const& before) const;
  float exp_avg_sq(Before const& before) const;

  /// Is that the m that the step computes? Bits, any NaN for any other, but for the one zero whose
  /// sign depends on where in its shard the element lies.
  bool is_exp_avg(Before const& before, float actual) const;

  /// The weight after the step, from the moments after it: for each root that PyTorch may take, one
  /// value, and all between them.
  Admissible weight(float weight, float exp_avg, float exp_avg_sq) const;

 private:
  float gradient(Before const& before) const;
  float weight_with(float root, float weight, float exp_avg) const;

  bool decays_gradient_;
  bool decays_weight_;
  float weight_decay_;
  float w1_;
  float beta2_;
  float w2_;
  float kept_;  // fl(1 - lr decay)
  float epsilon_;
  float minus_rate_;  // fl(-lr / c1)
  float root_c2_;
};

}  // namespace adamant::oracle
