// The part of a step's bounds where the result of an operation on tensors may be rounded to 16 bits
// (step 8 of step_bounds.h): moments, and what decay leaves, operation by operation. It knows
// neither corrections nor the update.
#pragma once

#include "oracle/interval/operations.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// Operations on tensors of one 16-bit format.
class ShortStep {
 public:
  explicit ShortStep(NumberFormat format) : format_(format) {}

  /// A scalar that is added, or scales what is added.
  Range operand(float scalar) const;
  /// g + decay p.
  Range decayed_gradient(Range const& gradient, float decay, double weight) const;
  /// (1 - lr decay) p.
  Range decayed_weight(double rate_decay, double weight) const;
  /// beta m + (1 - beta) g.
  Range exp_avg(double beta, double exp_avg, Range const& gradient) const;
  /// beta v + (1 - beta) g^2.
  Range exp_avg_sq(double beta, double exp_avg_sq, Range const& gradient) const;

 private:
  Range result(Range const& exact) const { return rounded_or_not(exact, format_); }

  NumberFormat format_;
};

}  // namespace adamant::oracle
