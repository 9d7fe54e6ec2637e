// Steps by another arithmetic than the oracle's, from what was seen before and after them.
#include <cmath>
#include <string>

#include "oracle/explain/step_trace.h"
#include "oracle/formats/formats.h"
#include "oracle/torch/torch_step.h"

namespace adamant::oracle {
namespace {

bool decays_gradient(AdamConfig const& config) {
  return config.mode == AdamMode::adam && config.weight_decay != 0.0F;
}

bool decays_weight(AdamConfig const& config) {
  return config.mode == AdamMode::adamw && config.weight_decay != 0.0F;
}

double correction_of(float beta, SeenStep const& seen) {
  if (!seen.config.bias_correction) return 1.0;
  return 1.0 - std::pow(static_cast<double>(beta), static_cast<double>(seen.step));
}

class TorchTracing {
 public:
  TorchTracing(Trace& trace, SeenStep const& seen) : trace_(trace), seen_(seen) {}

  Term exp_avg() {
    Term const g = gradient(), m = trace_.given("m", seen_.before.exp_avg);
    Term const w1 = scalar("w1", "1 - beta1", 1.0 - static_cast<double>(config().beta1));
    Term const d = trace_.difference("g - m", g, m);
    if (std::abs(w1.fp32()) < 0.5F) return trace_.fused("new m", w1, d, m);
    Term const w = trace_.difference("w1 - 1", w1, trace_.given("1", 1));
    return trace_.fused("new m", w, d, g);
  }

  Term exp_avg_sq() {
    Term const g = gradient();
    Term const w2 = scalar("w2", "1 - beta2", 1.0 - static_cast<double>(config().beta2));
    Term const kept = trace_.product("beta2 * v", trace_.given("beta2", config().beta2),
                                     trace_.given("v", seen_.before.exp_avg_sq));
    return trace_.fused("new v", trace_.product("w2 * g", w2, g), g, kept);
  }

  /// By the right root of the second moment that was seen.
  void weight() {
    Term p = trace_.given("p", seen_.before.weight);
    double const rate = config().learning_rate, decay = config().weight_decay;
    if (decays_weight(config()))
      p = trace_.product("decayed p", p,
                         scalar("1 - lr * decay", "in binary64", 1.0 - rate * decay));
    double const c1 = correction_of(config().beta1, seen_);
    double const c2 = correction_of(config().beta2, seen_);
    Term const root = trace_.root("root", trace_.given("new v", seen_.exp_avg_sq));
    Term const root_c2 = scalar("sqrt(c2)", "in binary64", std::sqrt(c2));
    Term const below = trace_.sum("D", trace_.quotient("root / sqrt(c2)", root, root_c2),
                                  trace_.given("eps", config().epsilon));
    Term const step_size = scalar("-lr / c1", "in binary64", -(rate / c1));
    Term const above =
        trace_.product("-lr / c1 * m", step_size, trace_.given("new m", seen_.exp_avg));
    trace_.sum("new p", p, trace_.quotient("change", above, below));
  }

 private:
  AdamConfig const& config() const { return seen_.config; }

  /// Computed in binary64 and rounded where it meets a tensor.
  Term scalar(std::string name, std::string formula, double value) {
    return trace_.noted(std::move(name), std::move(formula), {}, static_cast<float>(value), "fp32");
  }

  Term gradient() {
    Term const g = trace_.given("gradient", seen_.before.gradient);
    if (!decays_gradient(config())) return g;
    return trace_.fused("g", trace_.given("p", seen_.before.weight),
                        trace_.given("weight_decay", config().weight_decay), g);
  }

  Trace& trace_;
  SeenStep const& seen_;
};

/// The exact result, in binary64, of what any order of operations computes.
class ExactTracing {
 public:
  ExactTracing(Trace& trace, SeenStep const& seen) : trace_(trace), seen_(seen) {}

  void exp_avg() {
    double const beta = seen_.config.beta1;
    Term const g = gradient(), m = trace_.given("m", seen_.before.exp_avg);
    trace_.noted("exact m", "beta1 * m + (1 - beta1) * g", {trace_.given("beta1", beta), m, g},
                 beta * m.value + (1 - beta) * g.value);
  }

  void exp_avg_sq() {
    double const beta = seen_.config.beta2;
    Term const g = gradient(), v = trace_.given("v", seen_.before.exp_avg_sq);
    trace_.noted("exact v", "beta2 * v + (1 - beta2) * g * g", {trace_.given("beta2", beta), v, g},
                 beta * v.value + (1 - beta) * g.value * g.value);
  }

  void weight() {
    AdamConfig const& config = seen_.config;
    double const rate = config.learning_rate;
    Term const p = trace_.given("p", seen_.before.weight);
    Term const m = trace_.given("new m", seen_.exp_avg),
               v = trace_.given("new v", seen_.exp_avg_sq);
    Term const c1 = trace_.noted("c1", "1 - beta1^t", {}, correction_of(config.beta1, seen_));
    Term const c2 = trace_.noted("c2", "1 - beta2^t", {}, correction_of(config.beta2, seen_));
    Term const d = trace_.noted("D", "sqrt(v) / sqrt(c2) + eps", {v, c2},
                                std::sqrt(v.value) / std::sqrt(c2.value) + config.epsilon);
    Term const q = trace_.noted("Q", "lr * m / (c1 * D)", {trace_.given("lr", rate), m, c1, d},
                                rate * m.value / (c1.value * d.value));
    double const decay = decays_weight(config) ? rate * config.weight_decay : 0.0;
    Term const kept = trace_.noted("kept", "(1 - lr * decay) * p", {p}, (1 - decay) * p.value);
    trace_.noted("exact p", "kept - Q", {kept, q}, kept.value - q.value);
  }

 private:
  Term gradient() {
    Term const g = trace_.given("gradient", seen_.before.gradient);
    if (seen_.before.gradient_slack != 0)
      trace_.given("which may be off by", seen_.before.gradient_slack);
    if (!decays_gradient(seen_.config)) return g;
    double const decay = static_cast<double>(seen_.config.weight_decay) * seen_.before.weight;
    return trace_.noted("g", "gradient + weight_decay * p",
                        {g, trace_.given("p", seen_.before.weight)}, g.value + decay);
  }

  Trace& trace_;
  SeenStep const& seen_;
};

}  // namespace

Admissible trace_torch(Trace& trace, SeenStep const& seen, TensorKind kind) {
  TorchStep const step(seen.config, seen.step);
  TorchTracing tracing(trace, seen);
  if (kind == TensorKind::exp_avg) return only(tracing.exp_avg().fp32());
  if (kind == TensorKind::exp_avg_sq) return only(tracing.exp_avg_sq().fp32());
  tracing.weight();
  return step.weight(seen.before.weight, seen.exp_avg, seen.exp_avg_sq);
}

Admissible trace_any_order(Trace& trace, SeenStep const& seen, StepFormats const& formats,
                           TensorKind kind) {
  StepBounds const bounds(seen.config, seen.step, formats);
  ExactTracing tracing(trace, seen);
  trace.noted("u", "of the type that is computed in", {},
              std::ldexp(1.0, -significant_bits(formats.compute)));
  if (kind == TensorKind::exp_avg) {
    tracing.exp_avg();
    return bounds.exp_avg(seen.before);
  }
  if (kind == TensorKind::exp_avg_sq) {
    tracing.exp_avg_sq();
    return bounds.exp_avg_sq(seen.before);
  }
  tracing.weight();
  return bounds.weight(seen.before.weight, seen.exp_avg, seen.exp_avg_sq);
}

}  // namespace adamant::oracle
