#include "scenarios/judge/formulas/formulas.h"

#include <algorithm>
#include <tuple>

#include "oracle/compare/first_difference.h"
#include "oracle/interval/step_bounds.h"
#include "oracle/torch/torch_step.h"
#include "scenarios/judge/formulas/admitted.h"
#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

namespace {

/// The oracle's own order of operations, which is TransformerEngine's: every bit is known. Only
/// what sums in an unknown order reduced is admitted. Laws: values.bitwise, values.interval.
class OwnOrder final : public Formulas {
 public:
  explicit OwnOrder(FormulasParts const& parts) : parts_(parts) {}

  void backward(WorldView const& world, resolved::Backward const& backward) override {
    Reference& reference = parts_.reference;
    auto const rounds = [&](int p) { return !reference.sums_exactly(p); };
    for (int p = 0; p < reference.model().parameter_count(); ++p)
      if (has_part(backward, p) && rounds(p))
        parts_.values.admit_gradient(world, p, backward.index);
    if (parts_.gradients != GradientClass::exact) return;
    parts_.follow_each(world, reduced_kinds, [&](int p) {
      if (has_part(backward, p) && !rounds(p)) reference.add_exact_mean(p, backward.index);
    });
  }
  void clip(WorldView const&) override { parts_.reference.model().clip(); }
  void step(WorldView const& world) override {
    parts_.reference.model().begin_step();
    parts_.follow_each(world, stepped_kinds,
                       [&](int p) { parts_.reference.model().step_parameter(p); });
  }
  void zero_grad(WorldView const&, bool set_to_none) override {
    parts_.reference.model().zero_grad(set_to_none);
  }

  bool may_store(ParameterSpec const&, TensorKind, NumberFormat) const override { return false; }
  RankScaling comparable(RankScaling const& scaling, bool) const override { return scaling; }
  bool has_empty_groups() const override { return true; }

 private:
  FormulasParts parts_;
};

/// PyTorch's kernels in fp32: moments bit for bit, weights by what their formula leaves open
/// (oracle/torch). How they undo the loss scale is said by the rounding of gradients. Laws:
/// values.bitwise, values.interval.
class TorchFormulas final : public Admitted {
 public:
  using Admitted::Admitted;

 private:
  void admit_elements(Stepped const& stepped) override {
    auto const& [consumed, before, after] =
        std::tie(stepped.consumed, stepped.before, stepped.after);
    oracle::TorchStep const step(stepped.group, stepped.step);
    auto const differs = [&](TensorKind kind, std::size_t i, float expected, float actual) {
      if (Violation* const first = wrong(kind, i))
        *first = other_value(Law::values_bitwise, site_of(stepped, kind, i),
                             {.expected = expected,
                              .actual = actual,
                              .ulps = oracle::ulp_distance(expected, actual)});
    };
    for (std::size_t i = 0; i < consumed.values.size(); ++i) {
      oracle::TorchStep::Before const here{.gradient = consumed.values[i],
                                           .weight = before.weight[i],
                                           .exp_avg = before.exp_avg[i],
                                           .exp_avg_sq = before.exp_avg_sq[i]};
      if (!step.is_exp_avg(here, after.exp_avg[i]))
        differs(TensorKind::exp_avg, i, step.exp_avg(here), after.exp_avg[i]);
      float const v = step.exp_avg_sq(here);
      if (oracle::ulp_distance(v, after.exp_avg_sq[i]) != 0)
        differs(TensorKind::exp_avg_sq, i, v, after.exp_avg_sq[i]);
      hold(stepped, stepped.weights, i,
           step.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]), after.weight[i]);
    }
  }
};

/// Any order of operations, any fusing: each element lies in the interval that the oracle derives
/// from what was there before (oracle/interval). Law: values.interval.
class IntervalFormulas final : public Admitted {
 public:
  using Admitted::Admitted;

 private:
  void admit_elements(Stepped const& stepped) override {
    auto const& after = stepped.after;
    oracle::StepBounds const bounds(stepped.group, stepped.step,
                                    oracle::step_formats(stepped.spec.formats));
    for (std::size_t i = 0; i < after.weight.size(); ++i) {
      oracle::StepBounds::Before const here = seen_step(stepped, i).before;
      hold(stepped, TensorKind::exp_avg, i, bounds.exp_avg(here), after.exp_avg[i]);
      hold(stepped, TensorKind::exp_avg_sq, i, bounds.exp_avg_sq(here), after.exp_avg_sq[i]);
      hold(stepped, stepped.weights, i,
           bounds.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]), after.weight[i]);
    }
  }
};

}  // namespace

bool has_part(resolved::Backward const& backward, int parameter) {
  return std::ranges::count(backward.without, parameter) == 0;
}

std::unique_ptr<Formulas> make_formulas(Arithmetic arithmetic, FormulasParts const& parts) {
  switch (arithmetic) {
    case Arithmetic::torch:
      return std::make_unique<TorchFormulas>(parts, GradientJudge::Rounding::known);
    case Arithmetic::torch_fused:
      return std::make_unique<TorchFormulas>(parts, GradientJudge::Rounding::in_step);
    case Arithmetic::interval:
      return std::make_unique<IntervalFormulas>(parts, GradientJudge::Rounding::any);
    case Arithmetic::own_order:
      break;
  }
  return std::make_unique<OwnOrder>(parts);
}

}  // namespace adamant::scenarios
