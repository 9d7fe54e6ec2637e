// What an `overflow` of a program does to its backward: the same for the source of gradients and
// for whoever judges them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "oracle/types.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/language/registry.h"
#include "scenarios/seam/program_walk.h"

namespace adamant::scenarios {

/// Whose gradients they are.
struct GradientOwner {
  std::uint64_t seed = 0;
  int microbatch_count = 1;
  std::span<ParameterSpec const> parameters;  // by number
  Registry const* registry = nullptr;         // null: every parameter has one name
};

/// The element that is not finite in `backward`, or nothing where no overflow strikes it.
std::optional<OverflowElement> overflow_in(resolved::Backward const& backward,
                                           GradientOwner const& owner);

/// Are exact gradients times `scale` still exact in `format`, in every partial sum and in any
/// order? Only times a power of two, and while neither the smallest of them nor the largest sum
/// leaves the format. All other gradients are sums that round.
bool stay_exact(float scale, NumberFormat format);

}  // namespace adamant::scenarios
