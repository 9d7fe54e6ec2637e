// What one step of Adam or AdamW may make of one element when nobody promised an order of
// operations: from the values before the step, an interval for each moment, and from the moments
// that were observed after it an interval for the parameter. It knows no engine; every correct one
// is inside, whatever it fuses or reorders.
//
// All of them compute, in exact arithmetic and with the binary32 settings, w1 = 1 - beta1,
// w2 = 1 - beta2, c1 = 1 - beta1^t, c2 = 1 - beta2^t (both 1 without bias correction):
//
//   M = beta1 m + w1 g       V = beta2 v + w2 g^2       (adam: with g + decay p in the place of g)
//   P = (1 - lr decay) p - Q       Q = lr m' / (c1 D)       D = sqrt(v') / sqrt(c2) + epsilon
//
// where m' and v' are the new moments and (adam) decay does not enter P. Fusing only leaves out
// roundings. What rounds: operations on tensors with u = 2^-p, p the significant bits of the format
// in which the engine computes (24 in fp32; 8 and 11 where each result of an operation is rounded
// to bf16 or fp16), with an error of at most u ufp(x) + eta / 2, eta the smallest positive number;
// and scalars made of settings alone with s = 2^-24, whatever the format of tensors. A root may err
// by 2 u: some vector libraries' do. To first order; products of roundings are below the widening
// of step 6.
//
// 1. The last operation on a result needs no term: rounding is monotone, so the ends of the
//    interval are rounded as the engine rounds, to the format it computes in and then to that of
//    storage.
// 2. g + decay p: a product and a sum, u (|decay p| + |g + decay p|). Scalars: none.
// 3. M as beta1 m + w1 g: two products before the last sum, u S with S = beta1 |m| + w1 |g|. As
//    m + w1 (g - m), which is used for w1 < 1/2, or as g - beta1 (g - m) for the others: a
//    difference and a product, 2 u times min(w1, beta1) (|g| + |m|), which is at most S. So
//    2 u S + 2 eta. Scalars: 1 - beta is exact for beta >= 1/2 and rounds once below, and (1 -
//    beta) may be subtracted from 1 again: s (|m| + |g|).
// 4. V likewise, w2 g^2 with one product more, and g^2 rounds before the difference: 3 u S + 3 eta,
//    S = beta2 v + w2 g^2, and 4 s times S or, for beta < 1/2, v + g^2.
// 5. P. The root, over a root or of a quotient: 3 u, and its scalar 2 s; eta / 2 on v' / c2, which
//    may be subnormal where the root is not. D's sum: u D, and s times epsilon where it was divided
//    by something; eta, since D itself may be subnormal. Q: m / c1 and lr times it, or lr / c1
//    times m; the quotient; 3 u in all and 5 s. What is subnormal on the way errs by eta / 2: what
//    is divided by D or by sqrt(c2) D, before or behind a factor of at most lr / c1, and the
//    quotient likewise: eta / 2 (1 + lr / c1) (1 + 1 / (sqrt(c2) D)). The decay, if there is one: p
//    times a rounded factor, u ufp(p) + s |p|; or added to m' / (c1 D) before lr: lr decay |p| (3 u
//    + s) and 2 u Q. Where a moment is stored in fewer bits than it was computed in, it may have
//    been half a step beside what is seen.
// 6. Everything here is computed in binary64. Its errors and the products of two roundings are
//    covered by widening each error by a factor of 1 + 2^-5 in 16-bit formats, 1 + 2^-16 in fp32,
//    and by 2^-50 of the largest term.
// 7. Other values. An operand that is NaN makes the result NaN. Infinities: what the formula gives
//    with them, or NaN, since a difference may come first. Overflow: where an intermediate result
//    of some order may pass the largest number although the result does not, infinity and NaN as
//    well.
// 8. In 16 bits u is coarse: 2 u S hides a beta that was rounded to them. But operands are few, and
//    what rounding makes of a known number is known. So steps 2 to 4 and the decay of step 5 are
//    followed there operation by operation (short_step.h): a result is what it is, or rounded to
//    binary32, or to the format; an operation makes a range of ranges; and all orders named above
//    are taken, with what lies between them. Scalars that are added, or scale what is added
//    (epsilon and L2's decay), may be rounded to the format as a part of the addition: PyTorch's
//    add does so. Factors keep binary32: betas, 1 - beta, 1 - lr decay. Where an operation may
//    overflow, steps 2 to 5 hold as they stand.
//
// Not admitted: subnormals flushed to zero, powers of the betas in binary32 (which lose c2's digits
// at the first steps), approximate divisions, a factor or a correction rounded to 16 bits.
//
// Not said: correlations, between elements or between the two moments.
#pragma once

#include <cstdint>

#include "oracle/interval/admissible.h"
#include "oracle/interval/operations.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// The formats that a step computes in and leaves its results in.
struct StepFormats {
  NumberFormat compute = NumberFormat::fp32;
  NumberFormat weight = NumberFormat::fp32;
  NumberFormat exp_avg = NumberFormat::fp32;
  NumberFormat exp_avg_sq = NumberFormat::fp32;
};

/// Computing in 16 bits is what an engine may do whose weights and moments all have that format
/// (PyTorch's kernels on bf16 tensors round every result); otherwise it computes in fp32.
StepFormats step_formats(Formats const& formats);

/// The bounds of one step of one group's parameters.
class StepBounds {
 public:
  /// Units: `step` is the count t of steps, this one included. Errors: asserts step >= 1.
  StepBounds(AdamConfig const& config, std::int64_t step, StepFormats const& formats);

  /// One element before the step: the gradient as the update consumes it, up to a slack, and the
  /// optimizer's own weight.
  struct Before {
    float gradient = 0.0F;
    float weight = 0.0F;
    float exp_avg = 0.0F;
    float exp_avg_sq = 0.0F;
    float gradient_slack = 0.0F;
  };
  Admissible exp_avg(Before const& before) const;
  Admissible exp_avg_sq(Before const& before) const;

  /// The weight after the step, from what it was and from both moments after it, which were
  /// admitted.
  Admissible weight(float weight, float exp_avg, float exp_avg_sq) const;

 private:
  bool is_short() const { return formats_.compute != NumberFormat::fp32; }
  Range gradient(Before const& before) const;
  Range before_storage(float stored, NumberFormat format) const;
  Range decayed(float weight) const;
  Range denominator(Range const& exp_avg_sq) const;
  Range update(Range const& exp_avg, Range const& exp_avg_sq) const;
  Admissible overflowing(Admissible result, double intermediate) const;
  double half_step(double x) const;
  Admissible stored(double lo, double hi, NumberFormat format) const;

  AdamConfig config_;
  StepFormats formats_;
  double u_ = 0;         // of an operation on tensors
  double eta_ = 0;       // the smallest positive number they know
  double widening_ = 1;  // step 6
  double limit_ = 0;     // from here on rounding overflows
  double c1_ = 1;
  double c2_ = 1;
};

}  // namespace adamant::oracle
