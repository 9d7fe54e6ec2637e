// The mean over microbatches of one element, addition by addition, and what any order of them may
// give.
#pragma once

#include <optional>
#include <span>

#include "oracle/explain/trace.h"
#include "oracle/interval/admissible.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// What a backward is the sum of, the number that divides it, and the gradient that was there.
struct Summed {
  std::span<float const> addends;
  int divisor = 1;
  std::optional<float> older = {};
  NumberFormat format = NumberFormat::fp32;
};
/// In the order of the addends.
Term trace_mean(Trace& trace, Summed const& summed);
/// Of any order.
Admissible mean_of_any_order(Summed const& summed);

}  // namespace adamant::oracle
