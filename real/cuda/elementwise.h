// How a kernel makes each number of an array of numbers at the same place of others, all over its
// grid: 8 lanes a thread by 16-byte accesses, or a plain loop where a CPU wants one. It knows
// nothing of what is computed.
#pragma once

#include <cstdint>

#include "real/cuda/grid.h"
#include "real/cuda/lanes.h"
#include "real/cuda/plain_loops.h"

namespace adamant::real {

/// Lanes that are none are 0.
struct WideLanes {
  float at[lanes] = {};
};

template <typename T>
__device__ __forceinline__ WideLanes wide_lanes(T const* from, Lanes const& at) {
  WideLanes numbers;
  load_as(from + at.begin, at.count, numbers.at);
  return numbers;
}

/// to[i] = of(from[i]...), computed in fp32 and rounded once to what `to` stores, for every i of
/// [0, numel), over all threads of the grid's x dimension. `to` may be one of `from`.
template <typename To, typename Of, typename... From>
__device__ __forceinline__ void transform_in_grid(std::int64_t numel, To* to, Of of,
                                                  From const*... from) {
  if constexpr (has_plain_loops) {
    for_each_in_grid(numel, [&](std::int64_t i) { to[i] = stored<To>(of(widened(from[i])...)); });
  } else {
    for_each_lanes_in_grid(numel, [&](Lanes const& at) {
      auto const store_of = [&](auto const&... wide) {
        WideLanes result;
        for (int k = 0; k < lanes; ++k) result.at[k] = of(wide.at[k]...);
        store_as(result.at, at.count, to + at.begin);
      };
      store_of(wide_lanes(from, at)...);
    });
  }
}

}  // namespace adamant::real
