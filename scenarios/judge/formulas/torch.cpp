#include "scenarios/judge/formulas/torch.h"

#include "oracle/compare/first_difference.h"
#include "oracle/torch/torch_step.h"

namespace adamant::scenarios {

void TorchFormulas::admit_elements(Stepped const& stepped) {
  auto const& [parameter, consumed, before, after] = stepped;
  oracle::TorchStep const step(group(stepped), step_count(stepped));
  TensorKind const weight = weight_kind(spec(stepped));
  bool m_is_right = true, v_is_right = true, weight_is_right = true;
  auto const differs = [&](TensorKind kind, std::size_t i, float expected, float actual) {
    findings().add_values(
        Law::values_bitwise, site_of(stepped, kind, i),
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
          holds(stepped, weight, i, step.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]),
                after.weight[i]);
  }
}

}  // namespace adamant::scenarios
