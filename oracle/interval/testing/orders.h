// Steps of Adam as others write them: correct ones in several orders of operations, and ones with a
// mistake that people make. Tests alone include it.
#pragma once

#include <cmath>
#include <cstdint>

#include "oracle/interval/step_bounds.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// One element after a step.
struct Stepped {
  float weight = 0.0F;
  float exp_avg = 0.0F;
  float exp_avg_sq = 0.0F;
};

using StepFunction = Stepped (*)(AdamConfig const&, std::int64_t t, StepBounds::Before const&);

struct Order {
  char const* name;
  StepFunction step;
};

struct Mistake {
  char const* name;
  AdamConfig asked;
  StepFunction step;
  bool shows_in_short_formats;
};

namespace order_details {

using Before = StepBounds::Before;

inline double c(float beta, std::int64_t t) {
  return 1.0 - std::pow(static_cast<double>(beta), static_cast<double>(t));
}

inline bool is_l2(AdamConfig const& config) {
  return config.mode == AdamMode::adam;
}

/// TransformerEngine's, without contraction.
inline Stepped plain(AdamConfig const& s, std::int64_t t, Before const& b) {
  float const g = is_l2(s) ? b.gradient + s.weight_decay * b.weight : b.gradient;
  float const m = s.beta1 * b.exp_avg + (1.0F - s.beta1) * g;
  float const v = s.beta2 * b.exp_avg_sq + (1.0F - s.beta2) * g * g;
  float const m_hat = m / static_cast<float>(c(s.beta1, t));
  float const v_hat = v / static_cast<float>(c(s.beta2, t));
  float update = m_hat / (std::sqrt(v_hat) + s.epsilon);
  if (!is_l2(s)) update = update + s.weight_decay * b.weight;
  return {b.weight - s.learning_rate * update, m, v};
}

/// The same with everything fused that can be, and the square taken first.
inline Stepped fused(AdamConfig const& s, std::int64_t t, Before const& b) {
  float const g = is_l2(s) ? std::fma(s.weight_decay, b.weight, b.gradient) : b.gradient;
  float const m = std::fma(s.beta1, b.exp_avg, std::fma(-s.beta1, g, g));
  float const v = std::fma(s.beta2, b.exp_avg_sq, std::fma(-s.beta2, g * g, g * g));
  float const v_hat = v / static_cast<float>(c(s.beta2, t));
  float update = m / static_cast<float>(c(s.beta1, t)) / (std::sqrt(v_hat) + s.epsilon);
  if (!is_l2(s)) update = std::fma(s.weight_decay, b.weight, update);
  return {std::fma(-s.learning_rate, update, b.weight), m, v};
}

/// PyTorch's fused kernel of older versions: the decay is subtracted first.
inline Stepped decay_first(AdamConfig const& s, std::int64_t t, Before const& b) {
  float const g = is_l2(s) ? b.gradient + b.weight * s.weight_decay : b.gradient;
  float const kept = is_l2(s) ? b.weight : b.weight - s.learning_rate * s.weight_decay * b.weight;
  float const m = s.beta1 * b.exp_avg + (1.0F - s.beta1) * g;
  float const v = s.beta2 * b.exp_avg_sq + (1.0F - s.beta2) * (g * g);
  float const size = s.learning_rate / static_cast<float>(c(s.beta1, t));
  float const root_c2 = std::sqrt(static_cast<float>(c(s.beta2, t)));
  float const denominator = std::sqrt(v) / root_c2 + s.epsilon;
  return {kept - size * m / denominator, m, v};
}

/// PyTorch's capturable form: the rate goes into the denominator.
inline Stepped capturable(AdamConfig const& s, std::int64_t t, Before const& b) {
  float const g = is_l2(s) ? b.gradient + s.weight_decay * b.weight : b.gradient;
  float const kept = is_l2(s) ? b.weight : b.weight * (1.0F - s.learning_rate * s.weight_decay);
  float const w1 = 1.0F - s.beta1;
  float const m = w1 < 0.5F ? b.exp_avg + w1 * (g - b.exp_avg) : g - (g - b.exp_avg) * (1.0F - w1);
  float const w2 = 1.0F - s.beta2;
  float const square = g * g;
  float const v = w2 < 0.5F ? b.exp_avg_sq + w2 * (square - b.exp_avg_sq)
                            : square - (square - b.exp_avg_sq) * (1.0F - w2);
  float const size = -(s.learning_rate / static_cast<float>(c(s.beta1, t)));
  float const root_c2 = std::sqrt(static_cast<float>(c(s.beta2, t)));
  float const denominator = std::sqrt(v) / (root_c2 * size) + s.epsilon / size;
  return {kept + m / denominator, m, v};
}

/// The paper's efficient form: both corrections are in the rate, and one in epsilon.
inline Stepped corrected_rate(AdamConfig const& s, std::int64_t t, Before const& b) {
  Stepped after = plain(s, t, b);
  double const root_c2 = std::sqrt(c(s.beta2, t));
  auto const rate = static_cast<float>(s.learning_rate * root_c2 / c(s.beta1, t));
  auto const epsilon = static_cast<float>(s.epsilon * root_c2);
  float const kept = is_l2(s) ? b.weight : b.weight - s.learning_rate * s.weight_decay * b.weight;
  after.weight = kept - rate * after.exp_avg / (std::sqrt(after.exp_avg_sq) + epsilon);
  return after;
}

/// With other numbers than were asked for, otherwise right.
template <typename Change>
Stepped changed(AdamConfig s, std::int64_t t, Before const& b, Change change) {
  change(s, t);
  return plain(s, t, b);
}

inline Stepped one_step_ahead(AdamConfig const& s, std::int64_t t, Before const& b) {
  return changed(s, t, b, [](AdamConfig&, std::int64_t& step) { ++step; });
}

inline Stepped uncorrected(AdamConfig const& s, std::int64_t t, Before const& b) {
  return changed(s, t, b, [](AdamConfig&, std::int64_t& step) { step = 1 << 20; });
}

inline Stepped swapped_betas(AdamConfig const& s, std::int64_t t, Before const& b) {
  return changed(s, t, b, [](AdamConfig& other, std::int64_t&) {
    float const beta1 = other.beta1;
    other.beta1 = other.beta2;
    other.beta2 = beta1;
  });
}

inline Stepped l2_decay(AdamConfig const& s, std::int64_t t, Before const& b) {
  return changed(s, t, b, [](AdamConfig& other, std::int64_t&) { other.mode = AdamMode::adam; });
}

inline Stepped no_decay(AdamConfig const& s, std::int64_t t, Before const& b) {
  return changed(s, t, b, [](AdamConfig& other, std::int64_t&) { other.weight_decay = 0.0F; });
}

inline Stepped decay_without_rate(AdamConfig const& s, std::int64_t t, Before const& b) {
  Stepped after = changed(s, t, b, [](AdamConfig& o, std::int64_t&) { o.weight_decay = 0.0F; });
  after.weight -= s.weight_decay * b.weight;
  return after;
}

inline Stepped epsilon_inside(AdamConfig const& s, std::int64_t t, Before const& b) {
  Stepped after = plain(s, t, b);
  double const m_hat = after.exp_avg / c(s.beta1, t);
  double const root = std::sqrt(after.exp_avg_sq / c(s.beta2, t) + s.epsilon);
  double const update = m_hat / root + static_cast<double>(s.weight_decay) * b.weight;
  after.weight = static_cast<float>(b.weight - s.learning_rate * update);
  return after;
}

/// Epsilon added to the root before its correction.
inline Stepped epsilon_before_correction(AdamConfig const& s, std::int64_t t, Before const& b) {
  Stepped after = plain(s, t, b);
  double const m_hat = after.exp_avg / c(s.beta1, t);
  double const root =
      (std::sqrt(static_cast<double>(after.exp_avg_sq)) + s.epsilon) / std::sqrt(c(s.beta2, t));
  double const update = m_hat / root + static_cast<double>(s.weight_decay) * b.weight;
  after.weight = static_cast<float>(b.weight - s.learning_rate * update);
  return after;
}

inline Stepped square_forgotten(AdamConfig const& s, std::int64_t t, Before const& b) {
  Stepped after = plain(s, t, b);
  after.exp_avg_sq = s.beta2 * b.exp_avg_sq + (1.0F - s.beta2) * std::abs(b.gradient);
  return after;
}

}  // namespace order_details

inline constexpr Order orders[] = {{"plain", order_details::plain},
                                   {"fused", order_details::fused},
                                   {"decay first", order_details::decay_first},
                                   {"capturable", order_details::capturable},
                                   {"corrected rate", order_details::corrected_rate}};

inline constexpr Mistake mistakes[] = {
    {"corrections one step ahead", {}, order_details::one_step_ahead, true},
    {"no bias correction", {}, order_details::uncorrected, true},
    {"betas swapped", {}, order_details::swapped_betas, true},
    {"L2 for decoupled decay", {.weight_decay = 0.5F}, order_details::l2_decay, true},
    {"no decay", {}, order_details::no_decay, false},
    {"decay without the rate", {}, order_details::decay_without_rate, true},
    {"epsilon inside the root", {}, order_details::epsilon_inside, false},
    {"epsilon before the correction",
     {.epsilon = 1e-6F},
     order_details::epsilon_before_correction,
     false},
    {"gradient not squared", {}, order_details::square_forgotten, true}};

}  // namespace adamant::oracle
