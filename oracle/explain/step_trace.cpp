#include "oracle/explain/step_trace.h"

#include <vector>

#include "oracle/adam/adam_step.h"
#include "oracle/adam/bias_corrections.h"
#include "oracle/explain/storage_trace.h"
#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

/// A parameter's numbers as the optimizer has computed them, before any is stored.
struct Computed {
  std::vector<float> gradient;
  std::vector<float> weight;
  std::vector<float> exp_avg;
  std::vector<float> exp_avg_sq;
};

std::vector<float> copied(std::span<float const> values) {
  return {values.begin(), values.end()};
}

class StepTracing {
 public:
  StepTracing(Trace& trace, Model const& before, Model const& begun, int parameter)
      : trace_(trace),
        before_(before),
        begun_(begun),
        parameter_(parameter),
        config_(before.group(before.spec(parameter).group)) {
    compute_all();
  }

  Term run(TensorKind kind, std::int64_t index) {
    at_ = static_cast<std::size_t>(index);
    Term const g = gradient();
    ElementOf const element{.parameter = parameter_, .kind = kind, .index = index};
    if (kind == TensorKind::exp_avg)
      return trace_store(trace_, before_, element, {.x = exp_avg(g), .all = all_.exp_avg});
    if (kind == TensorKind::exp_avg_sq)
      return trace_store(trace_, before_, element, {.x = exp_avg_sq(g), .all = all_.exp_avg_sq});
    Term const m = exp_avg(g), v = exp_avg_sq(g);
    bool const delayed = before_.spec(parameter_).formats.recipe == Recipe::fp8_delayed;
    return trace_store(trace_, before_, element,
                       {.x = weight(m, v),
                        .all = all_.weight,
                        .delayed = delayed ? before_.delayed_scale(parameter_) : DelayedScale{}});
  }

 private:
  TensorKind weight_kind() const {
    return before_.spec(parameter_).formats.main ? TensorKind::main : TensorKind::parameter;
  }
  std::span<float const> handed() const {
    auto const cast = before_.tensor(parameter_, TensorKind::cast_gradient);
    return cast.empty() ? before_.tensor(parameter_, TensorKind::gradient) : cast;
  }
  float inverse() const { return begun_.scaling().inverse; }
  float coefficient() const { return begun_.scaling().coefficient; }
  bool as_it_is() const { return inverse() == 1.0F && coefficient() == 1.0F; }

  /// What scales are made of: all elements.
  void compute_all() {
    all_ = {.gradient = copied(handed()),
            .weight = copied(before_.tensor(parameter_, weight_kind())),
            .exp_avg = copied(before_.tensor(parameter_, TensorKind::exp_avg)),
            .exp_avg_sq = copied(before_.tensor(parameter_, TensorKind::exp_avg_sq))};
    if (!as_it_is())
      for (float& g : all_.gradient) g = (g * inverse()) * coefficient();
    adam_step(config_, begun_.step_count(parameter_), all_.gradient, all_.weight, all_.exp_avg,
              all_.exp_avg_sq);
  }

  Term before(std::string name, TensorKind kind) {
    return trace_.given(std::move(name), before_.tensor(parameter_, kind)[at_]);
  }

  Term gradient() {
    Term g = trace_.given("gradient", handed()[at_]);
    if (!as_it_is()) {
      g = trace_.product("unscaled", g, trace_.given("1/loss_scale", inverse()));
      g = trace_.product("clipped", g, trace_.given("coefficient", coefficient()));
    }
    if (config_.mode == AdamMode::adamw) return g;
    Term const decay = trace_.product("decay", trace_.given("weight_decay", config_.weight_decay),
                                      before("p", weight_kind()));
    return trace_.sum("g", g, decay);
  }

  Term exp_avg(Term const& g) {
    Term const beta = trace_.given("beta1", config_.beta1);
    Term const kept = trace_.product("beta1 * m", beta, before("m", TensorKind::exp_avg));
    Term const rest = trace_.difference("1 - beta1", trace_.given("1", 1), beta);
    return trace_.sum("new m", kept, trace_.product("(1 - beta1) * g", rest, g));
  }

  Term exp_avg_sq(Term const& g) {
    Term const beta = trace_.given("beta2", config_.beta2);
    Term const kept = trace_.product("beta2 * v", beta, before("v", TensorKind::exp_avg_sq));
    Term const rest = trace_.difference("1 - beta2", trace_.given("1", 1), beta);
    Term const once = trace_.product("(1 - beta2) * g", rest, g);
    return trace_.sum("new v", kept, trace_.product("(1 - beta2) * g * g", once, g));
  }

  Term weight(Term const& m, Term const& v) {
    std::int64_t const step = begun_.step_count(parameter_);
    BiasCorrections const corrections = bias_corrections(config_, step);
    Term const t = trace_.given("t", static_cast<double>(step));
    Term const c1 = trace_.noted("c1", "1 - beta1^t in binary64", {t}, corrections.c1, "fp32");
    Term const c2 = trace_.noted("c2", "1 - beta2^t in binary64", {t}, corrections.c2, "fp32");
    Term const m_hat = trace_.quotient("m_hat", m, c1);
    Term const root = trace_.root("root", trace_.quotient("v_hat", v, c2));
    Term const below = trace_.sum("root + eps", root, trace_.given("eps", config_.epsilon));
    Term u = trace_.quotient("u", m_hat, below);
    Term const p = before("p", weight_kind());
    if (config_.mode == AdamMode::adamw) {
      Term const decay =
          trace_.product("decay", trace_.given("weight_decay", config_.weight_decay), p);
      u = trace_.sum("u + decay", u, decay);
    }
    Term const change = trace_.product("lr * u", trace_.given("lr", config_.learning_rate), u);
    return trace_.difference("new p", p, change);
  }

  Trace& trace_;
  Model const& before_;
  Model const& begun_;
  int parameter_;
  AdamConfig const& config_;
  Computed all_;
  std::size_t at_ = 0;
};

/// The values with which an element shares a scale.
std::vector<float> sharing(Model const& model, ElementOf const& element,
                           std::span<float const> all) {
  for (auto const& shard : model.shards(element.parameter)) {
    std::vector<float> values;
    bool has_it = false;
    for (ElementRange const range : shard) {
      auto const of_range = all.subspan(static_cast<std::size_t>(range.begin),
                                        static_cast<std::size_t>(range.numel()));
      values.insert(values.end(), of_range.begin(), of_range.end());
      has_it = has_it || (element.index >= range.begin && element.index < range.end);
    }
    if (has_it) return values;
  }
  return copied(all);
}

NumberFormat format_of(Formats const& formats, TensorKind kind) {
  if (kind == TensorKind::exp_avg) return formats.exp_avg;
  if (kind == TensorKind::exp_avg_sq) return formats.exp_avg_sq;
  return kind == TensorKind::main ? *formats.main : formats.parameter;
}

}  // namespace

Term trace_store(Trace& trace, Model const& into, ElementOf const& element, Storing const& what) {
  Formats const& formats = into.spec(element.parameter).formats;
  bool const is_parameter = element.kind == TensorKind::parameter;
  if (is_parameter && formats.recipe)
    return trace_quantised(trace, what.all, matrix_of(into.spec(element.parameter)),
                           *formats.recipe, what.delayed, element.index);
  if (is_parameter && formats.main == NumberFormat::remainder) return trace_split(trace, what.x);
  NumberFormat const format = format_of(formats, element.kind);
  if (!into.scales(element.parameter, element.kind).empty())
    return trace_scaled(trace, {.term = what.x, .sharing = sharing(into, element, what.all)},
                        format);
  bool const all_is_kept = format == NumberFormat::fp32 || format == NumberFormat::remainder;
  return all_is_kept ? what.x : trace.rounded("stored", what.x, format);
}

std::optional<Term> trace_step(Trace& trace, Model const& before, ElementOf const& element) {
  Model begun = before;
  begun.begin_step();
  if (begun.step_passes_over(element.parameter)) return std::nullopt;
  return StepTracing(trace, before, begun, element.parameter).run(element.kind, element.index);
}

}  // namespace adamant::oracle
