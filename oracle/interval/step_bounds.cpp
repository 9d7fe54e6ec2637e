#include "oracle/interval/step_bounds.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "oracle/check.h"
#include "oracle/formats/formats.h"
#include "oracle/interval/short_step.h"

namespace adamant::oracle {
namespace {

constexpr double scalar_u = 0x1p-24;    // s
constexpr double arithmetic = 0x1p-50;  // step 6
constexpr double unbounded = std::numeric_limits<double>::infinity();

double bias_correction(float beta, std::int64_t step) {
  return 1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step));
}

/// u ufp(x), or half of the smallest step.
double half_step_in(double x, double u, double eta) {
  if (x == 0.0 || !std::isfinite(x)) return eta / 2;
  return std::max(u * std::ldexp(1.0, std::ilogb(x)), eta / 2);
}

bool any_nan(std::initializer_list<float> values) {
  return std::any_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
}

bool all_finite(std::initializer_list<float> values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

/// Step 8: what operations give, or where one may overflow, what steps 3 and 4 give.
Range finite_or(Range const& operations, Range const& otherwise) {
  bool const finite = std::isfinite(operations.lo) && std::isfinite(operations.hi);
  return finite ? operations : otherwise;
}

/// Step 7: what a formula gives with an infinity in it, or NaN.
Admissible or_nan(double value) {
  Admissible result = std::isnan(value) ? only_nan() : only(static_cast<float>(value));
  result.may_be_nan = true;
  return result;
}

}  // namespace

StepFormats step_formats(Formats const& formats) {
  bool const alike = formats.weight() == formats.exp_avg && formats.weight() == formats.exp_avg_sq;
  return {.compute = alike ? formats.weight() : NumberFormat::fp32,
          .weight = formats.weight(),
          .exp_avg = formats.exp_avg,
          .exp_avg_sq = formats.exp_avg_sq};
}

StepBounds::StepBounds(AdamConfig const& config, std::int64_t step, StepFormats const& formats)
    : config_(config),
      formats_(formats),
      u_(std::ldexp(1.0, -significant_bits(formats.compute))),
      eta_(smallest_positive(formats.compute)),
      widening_(1 + (formats.compute == NumberFormat::fp32 ? 0x1p-16 : 0x1p-5)),
      limit_(static_cast<double>(largest_finite(formats.compute))) {
  check(step >= 1, "the first step has number 1");
  if (!config.bias_correction) return;
  c1_ = bias_correction(config.beta1, step);
  c2_ = bias_correction(config.beta2, step);
}

double StepBounds::half_step(double x) const {
  return half_step_in(x, u_, eta_);
}

// Step 1: the compute format first, where it is the wider one; going outward covers both.
Admissible StepBounds::stored(double lo, double hi, NumberFormat format) const {
  return rounded_interval(lo, hi, format);
}

/// Step 7: a difference of such numbers may have overflowed to either side.
Admissible StepBounds::overflowing(Admissible result, double intermediate) const {
  if (intermediate < limit_) return result;
  result.may_be_nan = true;
  result.may_be_pos_inf = true;
  result.may_be_neg_inf = true;
  return result;
}

// Step 2.
Range StepBounds::gradient(Before const& before) const {
  double const g = before.gradient;
  double const slack = before.gradient_slack;
  if (config_.mode == AdamMode::adamw || config_.weight_decay == 0.0F)
    return {g - slack, g + slack};
  double const decay = static_cast<double>(config_.weight_decay) * before.weight;
  if (is_short()) {
    Range const given{g - slack, g + slack};
    Range const operations =
        ShortStep(formats_.compute).decayed_gradient(given, config_.weight_decay, before.weight);
    if (std::isfinite(operations.lo)) return operations;
  }
  double const error =
      (half_step(decay) + half_step(std::abs(g) + std::abs(decay))) * widening_ + slack;
  return {g + decay - error, g + decay + error};
}

// Step 3.
Admissible StepBounds::exp_avg(Before const& before) const {
  bool const decays = config_.mode == AdamMode::adam;
  float const weight = decays && config_.weight_decay != 0.0F ? before.weight : 0.0F;
  if (any_nan({before.gradient, before.exp_avg, weight})) return only_nan();
  double const beta = config_.beta1;
  double const m = before.exp_avg;
  if (!all_finite({before.gradient, before.exp_avg, weight}))
    return or_nan(beta * m + (1 - beta) * (before.gradient +
                                           static_cast<double>(config_.weight_decay) * weight));
  Range const g = gradient(before);
  double const magnitude = std::max(std::abs(g.lo), std::abs(g.hi));
  double const terms = beta * std::abs(m) + (1 - beta) * magnitude;
  double const scalars = beta < 0.5 ? std::abs(m) + magnitude : 0.0;
  double const error =
      (2 * u_ * terms + scalar_u * scalars + 2 * eta_) * widening_ + arithmetic * terms;
  Range after{beta * m + (1 - beta) * g.lo - error, beta * m + (1 - beta) * g.hi + error};
  if (is_short()) after = finite_or(ShortStep(formats_.compute).exp_avg(beta, m, g), after);
  Admissible result = stored(after.lo, after.hi, formats_.exp_avg);
  result.may_be_nan |= decays && !std::isfinite(before.weight);  // 0 times it, where that is done
  return overflowing(result, std::abs(m) + magnitude);
}

// Step 4.
Admissible StepBounds::exp_avg_sq(Before const& before) const {
  bool const decays = config_.mode == AdamMode::adam;
  float const weight = decays && config_.weight_decay != 0.0F ? before.weight : 0.0F;
  if (any_nan({before.gradient, before.exp_avg_sq, weight})) return only_nan();
  double const beta = config_.beta2;
  double const v = before.exp_avg_sq;
  if (!all_finite({before.gradient, before.exp_avg_sq, weight})) {
    double const g = before.gradient + static_cast<double>(config_.weight_decay) * weight;
    return or_nan(beta * v + (1 - beta) * (g * g));
  }
  Range const g = gradient(before);
  double const largest = std::max(g.lo * g.lo, g.hi * g.hi);
  double const least = g.lo <= 0 && g.hi >= 0 ? 0.0 : std::min(g.lo * g.lo, g.hi * g.hi);
  double const terms = beta * std::abs(v) + (1 - beta) * largest;
  double const scalars = beta < 0.5 ? std::abs(v) + largest : terms;
  double const error =
      (3 * u_ * terms + 4 * scalar_u * scalars + 3 * eta_) * widening_ + arithmetic * terms;
  Range after{beta * v + (1 - beta) * least - error, beta * v + (1 - beta) * largest + error};
  if (is_short()) after = finite_or(ShortStep(formats_.compute).exp_avg_sq(beta, v, g), after);
  Admissible result =
      stored(v < 0 ? after.lo : std::max(after.lo, 0.0), after.hi, formats_.exp_avg_sq);
  result.may_be_nan |= decays && !std::isfinite(before.weight);
  result = overflowing(result, std::abs(v) + largest);
  result.may_be_neg_inf = false;
  return result;
}

/// What a stored moment may have been in the format that it was computed in.
Range StepBounds::before_storage(float stored, NumberFormat format) const {
  double const x = stored;
  if (format == NumberFormat::fp32) return {x, x};
  double const largest = largest_finite(format);
  if (std::isinf(x)) return x > 0 ? Range{largest, unbounded} : Range{-unbounded, -largest};
  double const u = std::ldexp(1.0, -significant_bits(format));
  double const half = half_step_in(x, u, smallest_positive(format));
  return {x - half, x + half};
}

// Step 5: D.
Range StepBounds::denominator(Range const& exp_avg_sq) const {
  double const relative = (3 * u_ + 2 * scalar_u) * widening_;
  Range const epsilon = is_short() ? ShortStep(formats_.compute).operand(config_.epsilon)
                                   : Range{config_.epsilon, config_.epsilon};
  double const lost = c2_ < 1 ? eta_ / 2 * widening_ : 0.0;  // the quotient may be subnormal
  double const least = std::max(exp_avg_sq.lo, 0.0) / c2_, most = exp_avg_sq.hi / c2_;
  double const root_lo = std::sqrt(std::max(least - lost, 0.0)) * (1 - relative);
  double const root_hi = most == 0.0 ? 0.0 : std::sqrt(most + lost) * (1 + relative);
  double const lo = root_lo + epsilon.lo * (1 - scalar_u);
  double const hi = root_hi + epsilon.hi * (1 + scalar_u);
  return {std::max(lo * (1 - u_ * widening_) - eta_, 0.0), hi * (1 + u_ * widening_) + eta_};
}

/// Step 5: Q. NaN ends where that is all that can come out.
Range StepBounds::update(Range const& exp_avg, Range const& exp_avg_sq) const {
  Range const d = denominator(exp_avg_sq);
  double const rate = config_.learning_rate;
  double const decays = config_.weight_decay != 0.0F ? 2 * u_ : 0.0;
  double const relative = (3 * u_ + 5 * scalar_u + decays) * widening_;
  double const lost = eta_ / 2 * (1 + rate / c1_) * widening_;
  double const root_c2 = std::sqrt(c2_);
  Range q{unbounded, -unbounded};
  for (double const m : {exp_avg.lo, exp_avg.hi})
    for (double const by : {d.lo, d.hi}) {
      double const corner = rate * m / c1_ / by;
      if (std::isnan(corner)) continue;
      double const error =
          std::isinf(corner) ? 0.0 : std::abs(corner) * relative + lost * (1 + 1 / (by * root_c2));
      q = {std::min(q.lo, corner - error), std::max(q.hi, corner + error)};
    }
  if (exp_avg_sq.hi / c2_ >= limit_) q = {std::min(q.lo, 0.0), std::max(q.hi, 0.0)};
  return q;
}

/// Step 5: what decay leaves of p, before Q or after it.
Range StepBounds::decayed(float weight) const {
  double const p = weight;
  bool const decays = config_.mode == AdamMode::adamw && config_.weight_decay != 0.0F;
  if (!decays) return {p, p};
  double const rate_decay =
      static_cast<double>(config_.learning_rate) * static_cast<double>(config_.weight_decay);
  double const kept = (1 - rate_decay) * p;
  if (!std::isfinite(weight)) return {kept, kept};
  double const later = rate_decay * std::abs(p) * (3 * u_ + scalar_u) + 2 * eta_;
  double const first = half_step(std::max(std::abs(p), std::abs(kept))) + u_ * std::abs(p);
  double const error = (first + later) * widening_;
  Range const otherwise{kept - error, kept + error};
  if (!is_short()) return otherwise;
  Range const after_q{kept - later * widening_, kept + later * widening_};
  Range const operations = ShortStep(formats_.compute).decayed_weight(rate_decay, p);
  return finite_or(hull(operations, after_q), otherwise);
}

Admissible StepBounds::weight(float weight, float exp_avg, float exp_avg_sq) const {
  if (any_nan({weight, exp_avg, exp_avg_sq}) || exp_avg_sq < 0.0F) return only_nan();
  if (!std::isfinite(weight)) return or_nan(decayed(weight).lo);
  Range const m = before_storage(exp_avg, formats_.exp_avg);
  Range const v = before_storage(exp_avg_sq, formats_.exp_avg_sq);
  Range const q = update(m, v);
  if (q.lo > q.hi) return only_nan();
  Range const kept = decayed(weight);
  double const error = arithmetic * std::abs(weight);
  Admissible result = stored(kept.lo - q.hi - error, kept.hi - q.lo + error, formats_.weight);
  double const m_hat = std::max(std::abs(m.lo), std::abs(m.hi)) / c1_;
  result.may_be_nan |= !all_finite({exp_avg, exp_avg_sq}) || denominator(v).lo == 0.0;
  bool const passes = std::max(m_hat, m_hat / denominator(v).lo) >= limit_;
  result.may_be_nan |= passes;
  result.may_be_neg_inf |= (passes && m.hi > 0) || kept.lo <= -limit_;
  result.may_be_pos_inf |= (passes && m.lo < 0) || kept.hi >= limit_;
  bool const decay_passes = std::max(kept.hi, -kept.lo) >= limit_;
  result.may_be_nan |= decay_passes && std::max(q.hi, -q.lo) >= limit_;
  return result;
}

}  // namespace adamant::oracle
