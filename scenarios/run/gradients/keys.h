// The keys from which gradients/values.h makes its numbers, drawn from a seed by 64-bit mixing.
#pragma once

#include <cstdint>

#include "scenarios/run/gradients/values.h"

namespace adamant::scenarios {

/// Which tensor of which scenario, in a struct so that the numbers cannot be swapped.
struct TensorPlace {
  std::uint64_t seed = 0;
  int parameter = 0;
};

/// The key of a parameter's initial values.
TensorKey initial_key(TensorPlace const& place);

/// The key of its gradient in one backward; backwards of a program count from 0.
TensorKey gradient_key(TensorPlace const& place, std::int64_t backward);

/// One microbatch of a global batch of `microbatch_count` in one backward.
struct MicrobatchPlace {
  std::uint64_t seed = 0;
  std::int64_t backward = 0;
  int microbatch = 0;
  int microbatch_count = 1;
};

/// Errors: asserts microbatch < microbatch_count <= 2^24, the largest for which partial sums of
///         exact gradients stay exact.
MicrobatchKey microbatch_key(MicrobatchPlace const& place);

/// Bits of magnitude of exact means and deviations: |M| <= 2^mean, |d| <= 2^deviation, the latter
/// only where there are deviations.
struct ExactBits {
  int mean = 0;
  int deviation = 0;
  bool has_deviation = false;
};
ExactBits exact_bits(int microbatch_count);

}  // namespace adamant::scenarios
