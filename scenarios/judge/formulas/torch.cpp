#include "scenarios/judge/formulas/torch.h"

#include "oracle/compare/first_difference.h"
#include "oracle/torch/torch_step.h"

namespace adamant::scenarios {

void TorchFormulas::admit_elements(Stepped const& stepped) {
  auto const& [parameter, consumed, before, after] = stepped;
  oracle::TorchStep const step(group(stepped), step_count(stepped));
  TensorKind const weight = weight_kind(spec(stepped));
  auto const differs = [&](TensorKind kind, std::size_t i, float expected, float actual) {
    if (Violation* const first = wrong(kind, i))
      *first = other_value(
          Law::values_bitwise, site_of(stepped, kind, i),
          {.expected = expected, .actual = actual, .ulps = oracle::ulp_distance(expected, actual)});
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
    hold(stepped, weight, i, step.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]),
         after.weight[i]);
  }
}

}  // namespace adamant::scenarios
