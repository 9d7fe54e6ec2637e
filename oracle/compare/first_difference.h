// Bitwise comparison of tensors that names the first element that differs, or all of them, so that
// a failure prints values and not a bool. It knows nothing of tolerances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/types.h"

namespace adamant::oracle {

/// Steps between two numbers on the line of all binary32 values in order: neighbours are 1 apart,
/// and so are -0 and +0. All NaNs are one point, beyond +infinity.
std::uint64_t ulp_distance(float a, float b);

struct Difference {
  std::int64_t index = 0;
  float expected = 0.0F;
  float actual = 0.0F;
  std::uint64_t ulps = 0;
};

/// The first element whose bits differ. Any NaN equals any NaN; +0 and -0 differ.
///
/// Shapes: flat, equal lengths (asserted); empty tensors are equal.
std::optional<Difference> first_difference(std::span<float const> expected,
                                           std::span<float const> actual);

/// One more element behind those of the ranges, which ascend and do not touch.
void append(std::vector<ElementRange>& elements, std::int64_t index);

/// Appends all elements that first_difference() would find, one after the other, the first of the
/// tensors being number `begin`.
void append_differences(std::span<float const> expected, std::span<float const> actual,
                        std::int64_t begin, std::vector<ElementRange>& elements);

}  // namespace adamant::oracle
