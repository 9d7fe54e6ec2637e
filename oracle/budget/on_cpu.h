// What a rank's engine has in memory for a step of which the CPU does a part.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "oracle/budget/holdings.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// Units: bytes.
struct OnCpu {
  /// On the device, of states up to the first element that the CPU steps.
  std::map<TensorKind, std::int64_t> states = {};
  std::int64_t pieces = 0;     // of what the device steps; a count
  std::int64_t gradients = 0;  // on the host, as they are handed over
  std::int64_t weights = 0;    // on the host, as they are sent up
  std::int64_t copies = 0;     // on the device, of what is quantised from there
};

/// The CPU steps the last ceil(fraction n) of the n elements that a rank steps, in the order in
/// which they lie.
OnCpu on_cpu(std::span<Holding const> holdings, double fraction);

/// Pieces of the fused kernel's list for so many consecutive elements.
std::int64_t pieces_of(std::int64_t numel);

}  // namespace adamant::oracle
