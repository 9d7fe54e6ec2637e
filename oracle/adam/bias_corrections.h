// The two divisors that undo the moments' start at zero. They depend on the step and the betas
// alone, so they are computed once a step, on the host; no element is seen here.
#pragma once

#include <cstdint>

#include "oracle/types.h"

namespace adamant::oracle {

/// What m and v are divided by.
struct BiasCorrections {
  float c1 = 1.0F;
  float c2 = 1.0F;

  friend bool operator==(BiasCorrections const&, BiasCorrections const&) = default;
};

/// The corrections of one step:
///
///   c1 = fl32(1 - beta1^t)      c2 = fl32(1 - beta2^t)
///
/// and 1 for both where the group switches bias correction off.
///
/// Units:    `step` is the count t of executed steps, this one included; the first is 1.
/// Rounding: the betas are the binary32 ones (0.9F is 0.899999976...), widened to binary64; power
///           and subtraction happen there; one rounding to binary32 at the end.
/// Errors:   asserts step >= 1.
/// Source:   Kingma & Ba 2015, Algorithm 1; precision as in TransformerEngine's multi_tensor Adam.
///
/// Worked:   beta2 0.999F, step 2 -> 0.00199897424F (a binary32 power would give 0.00199896097F).
BiasCorrections bias_corrections(AdamConfig const& config, std::int64_t step);

}  // namespace adamant::oracle
