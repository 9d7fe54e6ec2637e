// The oracle's binary32 steps against PyTorch's binary64 ones. PyTorch decays first and corrects
// sqrt(v) instead of v, which are the same numbers in exact arithmetic; so what may separate them
// is the oracle's own rounding, counted here one operation at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle/adam/adam_step.h"
#include "oracle/adam/bias_corrections.h"
#include "oracle/golden/torch_adam.h"

namespace adamant::oracle {
namespace {

/// Bounds, to first order in u, on how far roundings take one element from the exact values.
///
/// Per step m gathers the roundings of two products and a sum, v those of three products and a sum
/// (1 - beta is exact for beta >= 1/2): after t steps 3 t u times the sum of magnitudes in m, and
/// 4 t u v. A correction, a division, a root and a sum cost u each, so that
///   m_hat: (3 t + 2) u      denominator: (4 t + 2) u / 2 + 2 u      quotient: u more
/// and the update another u for its sum with the decay (itself u), its product with the learning
/// rate and its subtraction. Terms in u^2 are below the factor of 1.01.
struct RoundingBudget {
  static constexpr double u = 0x1p-24 * 1.01;
  AdamConfig config;
  double m_magnitude = 0.0;  // m if all gradients were positive
  double m = 0.0;
  double v = 0.0;
  double param = 0.0;

  void step(int t, double g, double exact_v, double exact_param) {
    auto const c = bias_corrections(config, t);
    double const beta1 = config.beta1;
    m_magnitude = beta1 * m_magnitude + (1.0 - beta1) * std::abs(g);
    m = 3 * t * u * m_magnitude;
    v = 4 * t * u * exact_v;
    double const quotient = m_magnitude / c.c1 / (std::sqrt(exact_v / c.c2) + config.epsilon);
    double const decay = static_cast<double>(config.weight_decay) * std::abs(exact_param);
    double const update_error = quotient * (3 * t + 2 + 2 * t + 1 + 2 + 1) * u + decay * u;
    double const update = quotient + decay;
    param += config.learning_rate * (update_error + 2 * u * update) + u * std::abs(exact_param);
  }
};

/// REQUIRES: the golden rows of the configuration's mode.
void expect_within_budget(AdamConfig const& config,
                          double const (&param)[torch_golden::steps][torch_golden::numel]) {
  using namespace torch_golden;
  std::vector<float> p(start, start + numel), m(numel), v(numel);
  std::vector<RoundingBudget> budget(numel, RoundingBudget{.config = config});
  for (int t = 1; t <= steps; ++t) {
    adam_step(config, t, gradients[t - 1], p, m, v);
    for (std::size_t i = 0; i < numel; ++i) {
      budget[i].step(t, gradients[t - 1][i], exp_avg_sq[t - 1][i], param[t - 1][i]);
      EXPECT_NEAR(m[i], exp_avg[t - 1][i], budget[i].m) << "step " << t << ", element " << i;
      EXPECT_NEAR(v[i], exp_avg_sq[t - 1][i], budget[i].v) << "step " << t << ", element " << i;
      EXPECT_NEAR(p[i], param[t - 1][i], budget[i].param) << "step " << t << ", element " << i;
    }
  }
}

TEST(TorchGolden, AdamwIsPyTorchsUpToCountedRoundings) {
  expect_within_budget({.mode = AdamMode::adamw}, torch_golden::adamw_param);
}

TEST(TorchGolden, AdamIsPyTorchsUpToCountedRoundings) {
  expect_within_budget({.mode = AdamMode::adam, .weight_decay = 0.0F}, torch_golden::adam_param);
}

}  // namespace
}  // namespace adamant::oracle
