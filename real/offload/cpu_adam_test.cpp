#include "real/offload/cpu_adam.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "real/step/adam_element.h"
#include "real/testing/each_vectors.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;

struct State {
  Values w, g, m, v;
  CpuAdamArrays arrays() { return {w.data(), g.data(), m.data(), v.data()}; }
};

/// Any bit pattern with an exponent below infinity's; second moments are not negative.
State wild_state(std::int64_t numel, std::uint32_t seed) {
  std::uint32_t state = seed;
  auto const next = [&] {
    state = state * 1'664'525U + 1'013'904'223U;
    float const value = std::bit_cast<float>(state ^ (state >> 15));
    return value - value == 0 ? value : 0.0F;
  };
  State result;
  for (std::int64_t i = 0; i < numel; ++i) {
    result.w.push_back(next());
    result.g.push_back(next());
    result.m.push_back(next());
    result.v.push_back(std::fabs(next()));
  }
  return result;
}

void expect_same(State const& expected, State const& actual) {
  EXPECT_EQ(comparable_bits(expected.w), comparable_bits(actual.w));
  EXPECT_EQ(comparable_bits(expected.m), comparable_bits(actual.m));
  EXPECT_EQ(comparable_bits(expected.v), comparable_bits(actual.v));
}

template <bool decoupled>
State one_by_one(StepScalars const& scalars, State state) {
  for (std::size_t i = 0; i < state.w.size(); ++i) {
    AdamElement const e = adam_element<decoupled>(
        scalars, state.g[i], {.p = state.w[i], .m = state.m[i], .v = state.v[i]});
    state.w[i] = e.p;
    state.m[i] = e.m;
    state.v[i] = e.v;
  }
  return state;
}

using CpuAdam = EachVectors;

// Sizes around the end of a vector, of a block and of what is fetched ahead.
TEST_P(CpuAdam, HasTheBitsOfTheElement) {
  for (std::int64_t const numel : {0, 1, 7, 16, 63, 64, 65, 575, 576, 577, 5'003}) {
    for (AdamMode const mode : {AdamMode::adamw, AdamMode::adam}) {
      StepScalars const scalars = step_scalars({.mode = mode, .weight_decay = 0.1F}, 3, true);
      State const before = wild_state(numel, 11);
      State after = before;
      cpu_adam(scalars, after.arrays(), numel, GetParam());
      expect_same(mode == AdamMode::adamw ? one_by_one<true>(scalars, before)
                                          : one_by_one<false>(scalars, before),
                  after);
    }
  }
}

TEST_P(CpuAdam, HasTheSameBitsHoweverItIsCut) {
  StepScalars const scalars = step_scalars({}, 7, true);
  State const before = wild_state(3'001, 5);
  State whole = before;
  cpu_adam(scalars, whole.arrays(), 3'001, GetParam());
  for (std::int64_t const cut : {1, 13, 64, 700, 2'999}) {
    State parts = before;
    cpu_adam(scalars, parts.arrays(), cut, GetParam());
    cpu_adam(scalars, parts.arrays().from(cut), 3'001 - cut, GetParam());
    expect_same(whole, parts);
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, CpuAdam, all_vectors(), name_of_vectors);

}  // namespace
}  // namespace adamant::real
