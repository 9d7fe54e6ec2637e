// Where the scales of states are: three slots a parameter, one after the other. Numbers only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracle/types.h"
#include "real/cuda/assert.h"

namespace adamant::real {

inline constexpr int main_slot = 0;
inline constexpr int exp_avg_slot = 1;
inline constexpr int exp_avg_sq_slot = 2;
inline constexpr int slots_per_parameter = 3;

inline constexpr TensorKind state_kinds[slots_per_parameter] = {
    TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq};

/// REQUIRES: a state.
inline std::size_t scale_slot(int parameter, TensorKind kind) {
  int slot = main_slot;
  while (state_kinds[slot] != kind) {
    ++slot;
    ADAMANT_REAL_ASSERT(slot < slots_per_parameter);
  }
  return static_cast<std::size_t>(parameter) * slots_per_parameter + static_cast<std::size_t>(slot);
}

/// Scales of all states, by slot, null where there are none: what was stored is read times `now`
/// and anything is stored times the reciprocal of `next`.
struct ScaleArrays {
  float const* now = nullptr;
  float const* next = nullptr;
};

}  // namespace adamant::real
