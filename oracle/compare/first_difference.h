// Bitwise comparison of tensors that names the first element that differs, so that a failure prints
// values and not a bool. It knows nothing of tolerances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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

}  // namespace adamant::oracle
