#include "real/offload/cpu_adam.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "real/step/adam_element.h"

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

std::vector<std::uint32_t> bits_of(Values const& values) {
  std::vector<std::uint32_t> bits;
  for (float const value : values)
    bits.push_back(std::isnan(value) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(value));
  return bits;
}

void expect_same(State const& expected, State const& actual) {
  EXPECT_EQ(bits_of(expected.w), bits_of(actual.w));
  EXPECT_EQ(bits_of(expected.m), bits_of(actual.m));
  EXPECT_EQ(bits_of(expected.v), bits_of(actual.v));
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

class CpuAdam : public testing::TestWithParam<Vectors> {
 protected:
  void SetUp() override {
    if (GetParam() > widest_vectors()) GTEST_SKIP() << "this processor has no such registers";
  }
};

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

template <typename T>
std::vector<T> stored_as(Values const& values) {
  std::vector<T> result;
  for (float const value : values) result.push_back(stored<T>(value));
  return result;
}

template <typename T>
Values widened_from(std::vector<T> const& numbers) {
  Values values;
  for (T const& number : numbers) values.push_back(widened(number));
  return values;
}

// bf16 gradients and first moments, fp16 parameters beside fp32 main weights: each is widened,
// stepped, and rounded once.
TEST_P(CpuAdam, RoundsOnceToTheFormatsOfItsArrays) {
  constexpr std::int64_t numel = 1'500;
  StepScalars const scalars = step_scalars({.weight_decay = 0.1F}, 4, true);
  State before = wild_state(numel, 23);
  auto g = stored_as<__nv_bfloat16>(before.g);
  auto m = stored_as<__nv_bfloat16>(before.m);
  std::vector<__half> p(numel);
  before.g = widened_from(g);
  before.m = widened_from(m);
  State const expected = one_by_one<true>(scalars, before);

  cpu_adam(scalars,
           CpuAdamNumbers{.weights = {before.w.data(), NumberFormat::fp32},
                          .gradients = {g.data(), NumberFormat::bf16},
                          .exp_avg = {m.data(), NumberFormat::bf16},
                          .exp_avg_sq = {before.v.data(), NumberFormat::fp32},
                          .parameter = {p.data(), NumberFormat::fp16},
                          .copies = true},
           numel, GetParam());
  EXPECT_EQ(bits_of(before.w), bits_of(expected.w));
  EXPECT_EQ(bits_of(before.v), bits_of(expected.v));
  EXPECT_EQ(bits_of(widened_from(m)), bits_of(widened_from(stored_as<__nv_bfloat16>(expected.m))));
  EXPECT_EQ(bits_of(widened_from(p)), bits_of(widened_from(stored_as<__half>(expected.w))));
}

TEST_P(CpuAdam, MultipliesGradientsOneFactorAfterTheOtherAndKeepsThem) {
  constexpr std::int64_t numel = 700;
  StepScalars const scalars = step_scalars({}, 2, true);
  State after = wild_state(numel, 31);
  State multiplied = after;
  for (float& g : multiplied.g) g = g * 0.3F * 0.7F;
  Values const gradients = after.g;
  State const expected = one_by_one<true>(scalars, multiplied);
  cpu_adam(scalars,
           CpuAdamNumbers{.weights = {after.w.data(), NumberFormat::fp32},
                          .gradients = {after.g.data(), NumberFormat::fp32},
                          .exp_avg = {after.m.data(), NumberFormat::fp32},
                          .exp_avg_sq = {after.v.data(), NumberFormat::fp32},
                          .parameter = {},
                          .inverse = 0.3F,
                          .coefficient = 0.7F},
           numel, GetParam());
  expect_same(expected, after);
  EXPECT_EQ(bits_of(after.g), bits_of(gradients));
}

std::string name_of_vectors(testing::TestParamInfo<Vectors> const& info) {
  constexpr char const* names[] = {"Narrow", "Avx2", "Avx512"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Vectors, CpuAdam,
                         testing::Values(Vectors::narrow, Vectors::avx2, Vectors::avx512),
                         name_of_vectors);

}  // namespace
}  // namespace adamant::real
