#include "scenarios/judge/step_judge.h"

#include <algorithm>
#include <utility>

#include "oracle/compare/first_difference.h"
#include "oracle/interval/step_bounds.h"
#include "oracle/torch/torch_step.h"

namespace adamant::scenarios {

namespace {

TensorKind weight_kind(ParameterSpec const& spec) {
  return spec.formats.main ? TensorKind::main : TensorKind::parameter;
}

/// A parameter's tensors before the step, as the oracle has them.
struct Earlier {
  std::span<float const> weight;
  std::span<float const> exp_avg;
  std::span<float const> exp_avg_sq;
};

Earlier earlier(oracle::Model const& model, int parameter) {
  return {.weight = model.tensor(parameter, weight_kind(model.spec(parameter))),
          .exp_avg = model.tensor(parameter, TensorKind::exp_avg),
          .exp_avg_sq = model.tensor(parameter, TensorKind::exp_avg_sq)};
}

}  // namespace

void StepJudge::admit_step(WorldView const& world) {
  auto const& model = reference_.model();
  float const loss_scale = model.scaling().loss_scale;  // before the scaler moves
  reference_.begin_step();
  for (int p = 0; p < model.parameter_count(); ++p) {
    auto const consumed = model.has_gradient(p) ? gradients_.admit_consumed(world, p, loss_scale)
                                                : std::optional<GradientJudge::Consumed>();
    if (model.step_passes_over(p) || !consumed)
      reference_.pass_over(p);
    else
      admit_parameter(world, p, *consumed);
  }
  gradients_.end_step();
}

std::optional<StepJudge::After> StepJudge::gather(WorldView const& world, int parameter) {
  auto weight = values_.gather(world, parameter, weight_kind(reference_.model().spec(parameter)));
  auto exp_avg = values_.gather(world, parameter, TensorKind::exp_avg);
  auto exp_avg_sq = values_.gather(world, parameter, TensorKind::exp_avg_sq);
  if (!weight || !exp_avg || !exp_avg_sq) return std::nullopt;
  return After{.weight = std::move(weight->values),
               .exp_avg = std::move(exp_avg->values),
               .exp_avg_sq = std::move(exp_avg_sq->values)};
}

void StepJudge::admit_parameter(WorldView const& world, int parameter,
                                GradientJudge::Consumed const& consumed) {
  auto const after = gather(world, parameter);
  if (!after) return reference_.pass_over(parameter);
  bool const torch = world.arithmetic() == Arithmetic::torch;
  (this->*(torch ? &StepJudge::admit_torch : &StepJudge::admit_interval))(parameter, consumed,
                                                                          *after);
  reference_.take_step(
      parameter,
      {.weight = after->weight, .exp_avg = after->exp_avg, .exp_avg_sq = after->exp_avg_sq});
}

bool StepJudge::admit(Place const& place, oracle::Admissible const& bound, float actual) {
  if (bound.contains(actual)) {
    used_ = std::max(used_, bound.used(actual));
    return true;
  }
  findings_.add_outside(values_.place_of(place.parameter, place.kind, place.index), bound, actual,
                        "no order of operations makes this of what was there before the step");
  return false;
}

// Of each tensor the first element that is wrong is reported.
void StepJudge::admit_torch(int parameter, GradientJudge::Consumed const& consumed,
                            After const& after) {
  auto const& model = reference_.model();
  Earlier const before = earlier(model, parameter);
  oracle::TorchStep const step(model.group(model.spec(parameter).group),
                               model.step_count(parameter));
  bool m_is_right = true, v_is_right = true, weight_is_right = true;
  auto const differs = [&](TensorKind kind, std::size_t i, float expected, float actual) {
    findings_.add_values(
        "values.bitwise", values_.place_of(parameter, kind, static_cast<std::int64_t>(i)),
        {.expected = expected, .actual = actual, .ulps = oracle::ulp_distance(expected, actual)});
    return false;
  };
  for (std::size_t i = 0; i < consumed.values.size(); ++i) {
    oracle::TorchStep::Before const here{.gradient = consumed.values[i],
                                         .weight = before.weight[i],
                                         .exp_avg = before.exp_avg[i],
                                         .exp_avg_sq = before.exp_avg_sq[i]};
    if (m_is_right && !step.is_exp_avg(here, after.exp_avg[i]))
      m_is_right = differs(TensorKind::exp_avg, i, step.exp_avg(here), after.exp_avg[i]);
    float const v = step.exp_avg_sq(here);
    if (v_is_right && oracle::ulp_distance(v, after.exp_avg_sq[i]) != 0)
      v_is_right = differs(TensorKind::exp_avg_sq, i, v, after.exp_avg_sq[i]);
    if (weight_is_right)
      weight_is_right =
          admit({parameter, weight_kind(model.spec(parameter)), static_cast<std::int64_t>(i)},
                step.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]), after.weight[i]);
  }
}

void StepJudge::admit_interval(int parameter, GradientJudge::Consumed const& consumed,
                               After const& after) {
  auto const& model = reference_.model();
  auto const& spec = model.spec(parameter);
  Earlier const before = earlier(model, parameter);
  oracle::StepBounds const bounds(model.group(spec.group), model.step_count(parameter),
                                  oracle::step_formats(spec.formats));
  auto const place = [&](TensorKind kind, std::size_t i) -> Place {
    return {parameter, kind, static_cast<std::int64_t>(i)};
  };
  bool m_is_right = true, v_is_right = true, weight_is_right = true;
  for (std::size_t i = 0; i < consumed.values.size(); ++i) {
    oracle::StepBounds::Before const here{
        .gradient = consumed.values[i],
        .weight = before.weight[i],
        .exp_avg = before.exp_avg[i],
        .exp_avg_sq = before.exp_avg_sq[i],
        .gradient_slack = consumed.slack.empty() ? 0.0F : consumed.slack[i]};
    if (m_is_right)
      m_is_right = admit(place(TensorKind::exp_avg, i), bounds.exp_avg(here), after.exp_avg[i]);
    if (v_is_right)
      v_is_right =
          admit(place(TensorKind::exp_avg_sq, i), bounds.exp_avg_sq(here), after.exp_avg_sq[i]);
    if (weight_is_right)
      weight_is_right =
          admit(place(weight_kind(spec), i),
                bounds.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]), after.weight[i]);
  }
}

}  // namespace adamant::scenarios
