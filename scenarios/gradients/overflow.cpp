#include "scenarios/gradients/overflow.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace adamant::scenarios {

namespace {

/// Powers of two that exact gradients and their sums lie between (gradients/values.h), and those
/// that a format has: its smallest positive number, and the largest power.
struct Exponents {
  int least = 0;
  int largest = 0;
};

Exponents gradients_in(NumberFormat format) {
  return {.least = -19, .largest = format == NumberFormat::fp32 ? 20 : 7};
}

Exponents range_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return {.least = -149, .largest = 127};
    case NumberFormat::bf16:
      return {.least = -133, .largest = 127};
    default:
      break;
  }
  return {.least = -24, .largest = 15};
}

}  // namespace

std::optional<OverflowElement> overflow_in(resolved::Backward const& backward,
                                           GradientOwner const& owner) {
  if (!backward.overflow) return std::nullopt;
  std::vector<std::int64_t> numels;
  if (owner.registry == nullptr) {
    for (ParameterSpec const& spec : owner.parameters) numels.push_back(spec.numel());
    for (int const parameter : backward.without) numels[static_cast<std::size_t>(parameter)] = 0;
  } else {
    for (int const parameter : owner.registry->parameter)
      numels.push_back(owner.parameters[static_cast<std::size_t>(parameter)].numel());
    for (int const name : backward.left_out) numels[static_cast<std::size_t>(name)] = 0;
  }
  return overflow_element({.seed = owner.seed,
                           .backward = backward.index,
                           .microbatch_count = owner.microbatch_count,
                           .numels = numels});
}

bool stay_exact(float scale, NumberFormat format) {
  int exponent = 0;
  if (std::frexp(scale, &exponent) != 0.5F) return false;
  --exponent;  // scale = 2^exponent
  Exponents const gradients = gradients_in(format);
  Exponents const range = range_of(format);
  return gradients.least + exponent >= range.least && gradients.largest + exponent <= range.largest;
}

}  // namespace adamant::scenarios
