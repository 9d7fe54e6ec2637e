#include "oracle/torch/torch_step.h"

#include <cmath>
#include <initializer_list>
#include <limits>

#include "oracle/check.h"
#include "oracle/compare/first_difference.h"

namespace adamant::oracle {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

double correction(float beta, std::int64_t step, bool corrects) {
  if (!corrects) return 1.0;
  return 1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step));
}

}  // namespace

TorchStep::TorchStep(AdamConfig const& config, std::int64_t step)
    : decays_gradient_(config.mode == AdamMode::adam && config.weight_decay != 0.0F),
      decays_weight_(config.mode == AdamMode::adamw && config.weight_decay != 0.0F),
      weight_decay_(config.weight_decay),
      w1_(static_cast<float>(1.0 - static_cast<double>(config.beta1))),
      beta2_(config.beta2),
      w2_(static_cast<float>(1.0 - static_cast<double>(config.beta2))),
      kept_(static_cast<float>(1.0 - static_cast<double>(config.learning_rate) *
                                         static_cast<double>(config.weight_decay))),
      epsilon_(config.epsilon) {
  check(step >= 1, "the first step has number 1");
  double const c1 = correction(config.beta1, step, config.bias_correction);
  double const c2 = correction(config.beta2, step, config.bias_correction);
  minus_rate_ = static_cast<float>(-(static_cast<double>(config.learning_rate) / c1));
  root_c2_ = static_cast<float>(std::sqrt(c2));
}

float TorchStep::gradient(Before const& before) const {
  return decays_gradient_ ? std::fma(before.weight, weight_decay_, before.gradient)
                          : before.gradient;
}

float TorchStep::exp_avg(Before const& before) const {
  float const g = gradient(before);
  float const difference = g - before.exp_avg;
  return std::abs(w1_) < 0.5F ? std::fma(w1_, difference, before.exp_avg)
                              : std::fma(w1_ - 1.0F, difference, g);
}

float TorchStep::exp_avg_sq(Before const& before) const {
  float const g = gradient(before);
  return std::fma(w2_ * g, g, beta2_ * before.exp_avg_sq);
}

bool TorchStep::is_exp_avg(Before const& before, float actual) const {
  float const expected = exp_avg(before);
  if (ulp_distance(expected, actual) == 0) return true;
  return w1_ == 1.0F && expected == 0.0F && actual == 0.0F;
}

float TorchStep::weight_with(float root, float weight, float exp_avg) const {
  float const kept = decays_weight_ ? weight * kept_ : weight;
  float const denominator = root / root_c2_ + epsilon_;
  float const numerator = minus_rate_ * exp_avg;
  return kept + numerator / denominator;
}

// Each operation is monotone in the root, so the neighbours of the nearest root give the ends.
Admissible TorchStep::weight(float weight, float exp_avg, float exp_avg_sq) const {
  float const root = std::sqrt(exp_avg_sq);
  bool const exact = root == 0.0F || !std::isfinite(root);
  Admissible result = only(weight_with(root, weight, exp_avg));
  if (exact) return result;
  for (float const other : {std::nextafter(root, 0.0F), std::nextafter(root, infinity)})
    result = joined(result, only(weight_with(other, weight, exp_avg)));
  return result;
}

}  // namespace adamant::oracle
