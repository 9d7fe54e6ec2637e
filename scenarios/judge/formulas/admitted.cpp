#include "scenarios/judge/formulas/admitted.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "oracle/compare/first_difference.h"

namespace adamant::scenarios {

Admitted::Admitted(FormulasParts const& parts, GradientJudge::Rounding rounding)
    : parts_(parts),
      gradients_(rounding, parts.gradients, parts.reference, parts.values, parts.findings) {}

void Admitted::started() {
  parts_.reference.model().use_scaler(oracle::torch_scaler);
}

void Admitted::backward(WorldView const& world, resolved::Backward const& backward) {
  gradients_.admit_backward(world, backward);
}

void Admitted::clip(WorldView const& world) {
  gradients_.admit_clip(world);
}

void Admitted::loaded() {
  gradients_.forget();
}

// PyTorch leaves a parameter that has no gradient without one.
void Admitted::zero_grad(WorldView const& world, bool set_to_none) {
  auto const& model = parts_.reference.model();
  std::vector<int> absent;
  for (int p = 0; p < model.parameter_count(); ++p)
    if (!model.has_gradient(p) && !world.has_gradient(0, p)) absent.push_back(p);
  parts_.reference.model().zero_grad(set_to_none);
  for (int const p : absent) parts_.reference.model().drop_gradient(p);
  gradients_.forget();
}

void Admitted::step(WorldView const& world) {
  auto const& model = parts_.reference.model();
  float const loss_scale = model.scaling().loss_scale;  // before the scaler moves
  parts_.reference.model().begin_step();
  for (int p = 0; p < model.parameter_count(); ++p) {
    auto const consumed = model.has_gradient(p) ? gradients_.admit_consumed(world, p, loss_scale)
                                                : std::optional<GradientJudge::Consumed>();
    if (model.step_passes_over(p) || !consumed)
      parts_.reference.model().pass_over(p);
    else
      admit_parameter(world, p, *consumed);
  }
  gradients_.end_step();
}

void Admitted::admit_parameter(WorldView const& world, int parameter,
                               GradientJudge::Consumed const& consumed) {
  auto const& model = parts_.reference.model();
  ParameterSpec const& spec = model.spec(parameter);
  TensorKind const weights = spec.formats.main ? TensorKind::main : TensorKind::parameter;
  auto const gather = [&](TensorKind kind) { return parts_.values.gather(world, parameter, kind); };
  auto const after_weight = gather(weights);
  auto const after_m = gather(TensorKind::exp_avg);
  auto const after_v = gather(TensorKind::exp_avg_sq);
  if (!after_weight || !after_m || !after_v) return parts_.reference.model().pass_over(parameter);
  Stepped const stepped{.parameter = parameter,
                        .spec = spec,
                        .group = model.group(spec.group),
                        .step = model.step_count(parameter),
                        .weights = weights,
                        .consumed = consumed,
                        .before = {.weight = model.tensor(parameter, weights),
                                   .exp_avg = model.tensor(parameter, TensorKind::exp_avg),
                                   .exp_avg_sq = model.tensor(parameter, TensorKind::exp_avg_sq)},
                        .after = {.weight = after_weight->values,
                                  .exp_avg = after_m->values,
                                  .exp_avg_sq = after_v->values}};
  WatchedElement& watched = parts_.values.watched();
  if (watched.parameter == parameter)
    watched.step = seen_step(stepped, static_cast<std::size_t>(watched.index));
  admit_elements(stepped);
  for (auto& [kind, first, elements] : std::exchange(wrong_, {}))
    if (Violation* const added = parts_.findings.add(std::move(first)))
      added->elements = parts_.values.told(std::move(elements), parameter, kind);
  parts_.reference.model().adopt_step(
      parameter,
      {.weight = after_weight->values, .exp_avg = after_m->values, .exp_avg_sq = after_v->values});
}

oracle::SeenStep Admitted::seen_step(Stepped const& stepped, std::size_t i) {
  auto const& [consumed, before, after] = std::tie(stepped.consumed, stepped.before, stepped.after);
  return {.config = stepped.group,
          .step = stepped.step,
          .before = {.gradient = consumed.values[i],
                     .weight = before.weight[i],
                     .exp_avg = before.exp_avg[i],
                     .exp_avg_sq = before.exp_avg_sq[i],
                     .gradient_slack = consumed.slack.empty() ? 0.0F : consumed.slack[i]},
          .exp_avg = after.exp_avg[i],
          .exp_avg_sq = after.exp_avg_sq[i]};
}

Violation* Admitted::wrong(TensorKind kind, std::size_t index) {
  auto known = std::ranges::find(wrong_, kind, &Wrong::kind);
  bool const is_first = known == wrong_.end();
  if (is_first) known = wrong_.insert(known, {.kind = kind});
  oracle::append(known->elements, static_cast<std::int64_t>(index));
  return is_first ? &known->first : nullptr;
}

void Admitted::hold(Stepped const& stepped, TensorKind kind, std::size_t index,
                    oracle::Admissible const& bound, float actual) {
  if (bound.contains(actual))
    parts_.findings.note_used_by_step(bound.used(actual));
  else if (Violation* const first = wrong(kind, index))
    *first = outside_value(Breach::outside_step, site_of(stepped, kind, index), bound, actual);
}

Site Admitted::site_of(Stepped const& stepped, TensorKind kind, std::size_t index) const {
  return parts_.values.site_of(stepped.parameter, kind, static_cast<std::int64_t>(index));
}

// A gradient may be kept in the type of what it steps.
bool Admitted::may_store(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const {
  return kind == TensorKind::gradient && held == spec.formats.weight();
}

RankScaling Admitted::comparable(RankScaling const& scaling, bool stepped) const {
  return {.loss_scale = scaling.loss_scale,
          .skipped = stepped && scaling.skipped,
          .growth_tracker = scaling.growth_tracker};
}

}  // namespace adamant::scenarios
