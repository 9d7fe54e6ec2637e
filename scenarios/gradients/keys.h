// The keys from which gradients/values.h makes its numbers, drawn from a seed by 64-bit mixing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "oracle/types.h"
#include "scenarios/gradients/values.h"

namespace adamant::scenarios {

/// Which tensor of which scenario, in a struct so that the numbers cannot be swapped. Parameters
/// are told apart by the places of their own names in the file's list.
struct TensorPlace {
  std::uint64_t seed = 0;
  int parameter = 0;
};

/// The key of a parameter's initial values.
TensorKey initial_key(TensorPlace const& place);

/// The key of its gradient in one backward; backwards of a program count from 0. A parameter has
/// the place of its own name in the file's list, and one key for the gradients of all its names.
TensorKey gradient_key(TensorPlace const& place, std::int64_t backward);

/// One microbatch of a global batch of `microbatch_count` in one backward, for a gradient that is
/// summed in `format` over it and over `name_count` names of the parameter.
struct MicrobatchPlace {
  std::uint64_t seed = 0;
  std::int64_t backward = 0;
  int microbatch = 0;
  int microbatch_count = 1;
  NumberFormat format = NumberFormat::fp32;
  int name_count = 1;
  /// The place of the name whose gradient it is, where that is not the parameter's own.
  std::optional<int> other_name = {};
};

/// The largest number of microbatches, times names of a parameter, for which partial sums of exact
/// gradients stay exact: two to the format's significant bits.
int exact_microbatches_max(NumberFormat format);

/// Errors: asserts microbatch < microbatch_count; of more than exact_microbatches_max() the key is
///         not for exact gradients.
MicrobatchKey microbatch_key(MicrobatchPlace const& place);

/// Where a gradient is not finite, and what stands there instead.
struct OverflowElement {
  int name = 0;  // its place in the file's list; the parameter's number where none is tied
  std::int64_t element = 0;
  int microbatch = 0;
  float value = 0;  // NaN or infinite
};

/// Which backward an overflow strikes, and what it covers.
struct OverflowBackward {
  std::uint64_t seed = 0;
  std::int64_t backward = 0;
  int microbatch_count = 1;
  std::span<std::int64_t const> numels;  // by name; 0 where it gives no gradient
};

/// The one element that an `overflow` makes non-finite in the microbatch of one rank; nothing where
/// no name of a parameter with elements gives a gradient. The same in every world.
std::optional<OverflowElement> overflow_element(OverflowBackward const& backward);

/// Bits of magnitude of exact means and deviations: |M| <= 2^mean, |d| <= 2^deviation, the latter
/// only where there are deviations.
struct ExactBits {
  int mean = 0;
  int deviation = 0;
  bool has_deviation = false;
};
ExactBits exact_bits(int microbatch_count, NumberFormat format = NumberFormat::fp32);

}  // namespace adamant::scenarios
