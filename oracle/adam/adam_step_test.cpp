#include "oracle/adam/adam_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "oracle/adam/bias_corrections.h"
#include "oracle/compare/first_difference.h"
#include "oracle/testing/random_values.h"

namespace adamant::oracle {
namespace {

struct Problem {
  std::vector<float> g, p, m, v;

  void step(AdamConfig const& config, std::int64_t t) { adam_step(config, t, g, p, m, v); }
};

Problem filled(std::size_t numel, float g, float p) {
  return {std::vector(numel, g), std::vector(numel, p), std::vector(numel, 0.0F),
          std::vector(numel, 0.0F)};
}

bool same(Problem const& a, Problem const& b) {
  return !first_difference(a.p, b.p) && !first_difference(a.m, b.m) && !first_difference(a.v, b.v);
}

// ---- golden vectors ----------------------------------------------------------------------------

struct Golden {
  std::uint32_t p, m, v;
};

// From a C program that rounds after every operation, with IEEE division and root, written apart
// from this code (2026). Start: parameter 1.0, no moments, defaults of AdamConfig.
constexpr float golden_gradients[] = {0.5F, -0.25F, 0.001F};
constexpr Golden golden_adamw[] = {{0x3f7fbdcf, 0x3d4cccd0, 0x39831200},
                                   {0x3f7fabb3, 0x3ca3d70c, 0x39a3b4f2},
                                   {0x3f7f9d7a, 0x3c944675, 0x39a38b2b}};
constexpr Golden golden_adam[] = {{0x3f7fbe77, 0x3d50e563, 0x39885d94},
                                  {0x3f7fab83, 0x3cb3658b, 0x39a66e27},
                                  {0x3f7f9c0c, 0x3caa7527, 0x39a653c0}};

// 37 elements, so that vectors of any width and their remainder both see the numbers.
void expect_golden(AdamMode mode, Golden const (&expected)[3]) {
  auto problem = filled(37, 0.0F, 1.0F);
  for (int t = 1; t <= 3; ++t) {
    problem.g.assign(37, golden_gradients[t - 1]);
    problem.step({.mode = mode}, t);
    for (std::size_t i = 0; i < 37; ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.p[i]), expected[t - 1].p) << t << ' ' << i;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.m[i]), expected[t - 1].m) << t << ' ' << i;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.v[i]), expected[t - 1].v) << t << ' ' << i;
    }
  }
}

TEST(AdamStep, AdamwMatchesTheGoldenVectors) {
  expect_golden(AdamMode::adamw, golden_adamw);
}

TEST(AdamStep, L2MatchesTheGoldenVectors) {
  expect_golden(AdamMode::adam, golden_adam);
}

// ---- on paper: every intermediate number is exact ----------------------------------------------

// m = 0.5*2 = 1, m_hat 1/0.5 = 2; v = 0.25*2*2 = 1, v_hat 1/0.25 = 4, root 2; u = 2/(2+2) + 0.5*8.
TEST(AdamStep, AdamwOnPaper) {
  auto problem = filled(1, 2.0F, 8.0F);
  problem.step(
      {.learning_rate = 0.5F, .beta1 = 0.5F, .beta2 = 0.75F, .epsilon = 2, .weight_decay = 0.5F},
      1);
  EXPECT_EQ(problem.p[0], 8.0F - 0.5F * 4.5F);
  EXPECT_EQ(problem.m[0], 1.0F);
  EXPECT_EQ(problem.v[0], 1.0F);
}

// g = -2 + 0.5*8 = 2 makes the same moments as above; u = 2/(2+2).
TEST(AdamStep, L2OnPaper) {
  auto problem = filled(1, -2.0F, 8.0F);
  problem.step({.mode = AdamMode::adam,
                .learning_rate = 0.5F,
                .beta1 = 0.5F,
                .beta2 = 0.75F,
                .epsilon = 2,
                .weight_decay = 0.5F},
               1);
  EXPECT_EQ(problem.p[0], 7.75F);
  EXPECT_EQ(problem.m[0], 1.0F);
  EXPECT_EQ(problem.v[0], 1.0F);
}

TEST(AdamStep, WithoutBiasCorrectionMomentsAreUsedAsTheyAre) {
  auto problem = filled(1, 2.0F, 0.0F);
  problem.step({.learning_rate = 1,
                .beta1 = 0.5F,
                .beta2 = 0.75F,
                .epsilon = 1,
                .weight_decay = 0,
                .bias_correction = false},
               1);
  EXPECT_EQ(problem.p[0], -0.5F);  // 1 / (sqrt(1) + 1)
}

// ---- the plain formula, as a twin without Eigen -------------------------------------------------

void plain_step(AdamConfig const& config, std::int64_t t, Problem& problem) {
  auto const c = bias_corrections(config, t);
  for (std::size_t i = 0; i < problem.p.size(); ++i) {
    float& p = problem.p[i];
    float& m = problem.m[i];
    float& v = problem.v[i];
    float g = problem.g[i];
    if (config.mode == AdamMode::adam) g = g + config.weight_decay * p;
    m = config.beta1 * m + (1.0F - config.beta1) * g;
    v = config.beta2 * v + ((1.0F - config.beta2) * g) * g;
    float u = (m / c.c1) / (std::sqrt(v / c.c2) + config.epsilon);
    if (config.mode == AdamMode::adamw) u = u + config.weight_decay * p;
    p = p - config.learning_rate * u;
  }
}

// Three kinds of elements by turns: ordinary ones, tiny ones around the subnormal range, and any
// pattern at all, among which squares overflow and roots of infinity appear.
Problem known_problem(std::size_t numel, std::uint64_t seed) {
  RandomValues random(seed);
  auto problem = filled(numel, 0.0F, 0.0F);
  for (std::size_t i = 0; i < numel; ++i) {
    auto const draw = [&] {
      if (i % 3 == 0) return random.scaled(-12, 2);
      if (i % 3 == 1) return random.scaled(-149, -60);
      return random.finite();
    };
    problem.g[i] = draw();
    problem.p[i] = draw();
    problem.m[i] = draw();
    problem.v[i] = std::abs(draw());
  }
  return problem;
}

std::vector<AdamConfig> varied_configs() {
  return {
      {},
      {.mode = AdamMode::adam},
      {.beta1 = 0.0F, .beta2 = 0.0F, .epsilon = 0.0F, .weight_decay = 0.0F},
      {.mode = AdamMode::adam, .learning_rate = 10.0F, .beta1 = 0.99999F, .bias_correction = false},
      {.epsilon = 1e-30F, .weight_decay = 3.0F}};
}

TEST(AdamStep, EigenGivesTheBitsOfThePlainFormula) {
  std::int64_t t = 1;
  for (auto const& config : varied_configs()) {
    auto problem = known_problem(5003, 11);
    auto twin = problem;
    problem.step(config, t);
    plain_step(config, t, twin);
    EXPECT_TRUE(same(problem, twin)) << "step " << t;
    t = 3 * t + 1;
  }
}

std::uint64_t hash_of(std::vector<float> const& values, std::uint64_t hash) {
  for (float const x : values) {
    auto const bits = std::isnan(x) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(x);
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (bits >> shift & 0xffU)) * 0x100000001b3U;
  }
  return hash;
}

// The constant came out of g++ 12.2 and clang++ 14, each at -O0, at -O3 and at -O2 -march=native.
TEST(AdamStep, BitsDoNotDependOnTheCompiler) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (auto const& config : varied_configs()) {
    auto problem = known_problem(3001, 5);
    for (int t = 1; t <= 3; ++t) problem.step(config, t);
    hash = hash_of(problem.v, hash_of(problem.m, hash_of(problem.p, hash)));
  }
  EXPECT_EQ(hash, 1566273000490060159U);
}

// ---- properties --------------------------------------------------------------------------------

// m_hat and sqrt(v_hat) both equal |g| up to fewer than 8 roundings, and decay and p are 0.
TEST(AdamStep, FirstStepMovesByTheLearningRateAgainstTheSign) {
  AdamConfig const config{.learning_rate = 0.25F, .weight_decay = 0.0F};
  RandomValues random(3);
  for (int i = 0; i < 1000; ++i) {
    auto problem = filled(1, random.scaled(0, 20), 0.0F);
    if (problem.g[0] == 0.0F) continue;
    problem.step(config, 1);
    EXPECT_EQ(std::signbit(problem.p[0]), !std::signbit(problem.g[0])) << problem.g[0];
    EXPECT_NEAR(std::abs(problem.p[0]), 0.25, 0.25 * (8 * 0x1p-24 + 1e-8 / std::abs(problem.g[0])));
  }
}

TEST(AdamStep, ZeroGradientWithoutHistoryMovesOnlyByDecay) {
  auto plain = filled(1, 0.0F, 1.5F);
  plain.step({.weight_decay = 0.0F}, 1);
  EXPECT_EQ(plain.p[0], 1.5F);
  auto decayed = filled(1, 0.0F, 1.5F);
  decayed.step({.learning_rate = 0.5F, .weight_decay = 0.5F}, 1);
  EXPECT_EQ(decayed.p[0], 1.5F - 0.5F * (0.5F * 1.5F));
}

// With epsilon 0 a power of two scales m, the root of v and nothing else.
TEST(AdamStep, ScalingGradientsByPowersOfTwoLeavesTheUpdate) {
  AdamConfig const config{.epsilon = 0.0F};
  for (int exponent : {-20, -1, 1, 13}) {
    RandomValues random(17);
    auto problem = filled(999, 0.0F, 0.75F);
    auto scaled = problem;
    for (int t = 1; t <= 4; ++t) {
      for (std::size_t i = 0; i < 999; ++i) {
        problem.g[i] = random.scaled(-3, 3) + 0.01F;
        scaled.g[i] = std::ldexp(problem.g[i], exponent);
      }
      problem.step(config, t);
      scaled.step(config, t);
      EXPECT_EQ(first_difference(problem.p, scaled.p).has_value(), false) << exponent << ' ' << t;
    }
    EXPECT_EQ(scaled.m[5], std::ldexp(problem.m[5], exponent));
    EXPECT_EQ(scaled.v[5], std::ldexp(problem.v[5], 2 * exponent));
  }
}

TEST(AdamStep, PermutedElementsGetPermutedResults) {
  auto const start = known_problem(2500, 23);
  auto straight = start;
  auto reversed = start;
  for (auto* values : {&reversed.g, &reversed.p, &reversed.m, &reversed.v})
    std::reverse(values->begin(), values->end());
  straight.step({}, 2);
  reversed.step({}, 2);
  for (auto* values : {&reversed.p, &reversed.m, &reversed.v})
    std::reverse(values->begin(), values->end());
  EXPECT_TRUE(same(straight, reversed));
}

TEST(AdamStep, CutsAnywhereLeaveTheBits) {
  auto whole = known_problem(2100, 29);
  auto const start = whole;
  whole.step({}, 7);
  for (std::size_t cut : {0, 1, 2, 3, 5, 7, 8, 9, 1023, 1024, 1025, 2099, 2100}) {
    auto parts = start;
    std::span const g(parts.g), p(parts.p), m(parts.m), v(parts.v);
    adam_step({}, 7, g.first(cut), p.first(cut), m.first(cut), v.first(cut));
    adam_step({}, 7, g.subspan(cut), p.subspan(cut), m.subspan(cut), v.subspan(cut));
    EXPECT_TRUE(same(whole, parts)) << cut;
  }
}

// ---- what must not be skipped or flushed --------------------------------------------------------

TEST(AdamStep, DecayOfZeroIsStillComputed) {
  auto problem = filled(1, 1.0F, std::numeric_limits<float>::infinity());
  auto l2 = problem;
  problem.step({.weight_decay = 0.0F}, 1);
  EXPECT_TRUE(std::isnan(problem.p[0]));
  EXPECT_FALSE(std::isnan(problem.m[0]));
  l2.step({.mode = AdamMode::adam, .weight_decay = 0.0F}, 1);
  EXPECT_TRUE(std::isnan(l2.m[0]));
}

// (1 - 0) * 2^-70 * 2^-70 = 2^-140 is subnormal, its root is 2^-70 again.
TEST(AdamStep, SubnormalSecondMomentsAreKept) {
  auto problem = filled(8, 0x1p-70F, 0.0F);
  problem.step({.learning_rate = 1, .beta1 = 0, .beta2 = 0, .epsilon = 0, .weight_decay = 0}, 1);
  EXPECT_EQ(problem.v[7], 0x1p-140F);
  EXPECT_EQ(problem.p[7], -1.0F);
}

TEST(AdamStep, NanAndInfinityFlowThrough) {
  auto problem = filled(2, std::numeric_limits<float>::quiet_NaN(), 1.0F);
  problem.g[1] = std::numeric_limits<float>::infinity();
  problem.step({}, 1);
  EXPECT_TRUE(std::isnan(problem.m[0]));
  EXPECT_TRUE(std::isnan(problem.p[0]));
  EXPECT_TRUE(std::isinf(problem.m[1]));
  EXPECT_TRUE(std::isinf(problem.v[1]));
  EXPECT_TRUE(std::isnan(problem.p[1]));  // infinity over infinity
}

TEST(AdamStep, NothingHappensToNothing) {
  auto problem = filled(0, 0.0F, 0.0F);
  problem.step({}, 1);
  EXPECT_TRUE(problem.p.empty());
}

TEST(AdamStepDeathTest, LengthsMustAgree) {
  auto problem = filled(3, 1.0F, 1.0F);
  problem.v.pop_back();
  EXPECT_DEATH(problem.step({}, 1), "one length");
}

}  // namespace
}  // namespace adamant::oracle
