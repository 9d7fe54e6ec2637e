// Weights in two halves as a kernel goes through them: the lanes of a bfloat16 parameter and those
// of its remainders, joined in registers and split on their way back.
#pragma once

#include <cstdint>

#include "real/cuda/lanes.h"
#include "real/cuda/state_numbers.h"

namespace adamant::real {

/// Both halves of weights, bfloat16 parameters and their remainders, as bits.
struct Halves {
  std::uint16_t* parameters = nullptr;
  std::uint16_t* remainders = nullptr;
};

/// Lanes beyond `at.count` stay as they are.
__device__ __forceinline__ void load(Halves const& halves, Lanes const& at, float* to) {
  std::uint16_t const* const upper = halves.parameters + at.begin;
  std::uint16_t const* const lower = halves.remainders + at.begin;
  if (at.count < lanes || !is_packed(upper) || !is_packed(lower)) {
    for (int k = 0; k < lanes; ++k)
      if (k < at.count) to[k] = joined({upper[k], lower[k]});
    return;
  }
  Packed<std::uint16_t> const uppers = load_packed(upper);
  Packed<std::uint16_t> const lowers = load_packed(lower);
  static_assert(Packed<std::uint16_t>::count == lanes);
  for (int k = 0; k < lanes; ++k) to[k] = joined({uppers.at[k], lowers.at[k]});
}

/// Loses no bit but a NaN's.
__device__ __forceinline__ void store(float const* from, Halves const& halves, Lanes const& at) {
  std::uint16_t* const upper = halves.parameters + at.begin;
  std::uint16_t* const lower = halves.remainders + at.begin;
  Packed<std::uint16_t> uppers;
  Packed<std::uint16_t> lowers;
  for (int k = 0; k < lanes; ++k) {
    SplitWeight const weight = split(from[k]);
    uppers.at[k] = weight.parameter;
    lowers.at[k] = weight.remainder;
  }
  if (at.count == lanes && is_packed(upper) && is_packed(lower)) {
    store_packed(uppers, upper);
    store_packed(lowers, lower);
    return;
  }
  for (int k = 0; k < lanes; ++k) {
    if (k >= at.count) continue;
    upper[k] = uppers.at[k];
    lower[k] = lowers.at[k];
  }
}

}  // namespace adamant::real
