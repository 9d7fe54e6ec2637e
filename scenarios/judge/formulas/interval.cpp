#include "scenarios/judge/formulas/interval.h"

#include "oracle/interval/step_bounds.h"

namespace adamant::scenarios {

void IntervalFormulas::admit_elements(Stepped const& stepped) {
  auto const& after = stepped.after;
  TensorKind const weight = weight_kind(spec(stepped));
  oracle::StepBounds const bounds(group(stepped), step_count(stepped),
                                  oracle::step_formats(spec(stepped).formats));
  bool m_is_right = true, v_is_right = true, weight_is_right = true;
  auto const lies_in = [&](TensorKind kind, std::size_t i, oracle::Admissible const& bound,
                           float actual) { return holds(stepped, kind, i, bound, actual); };
  for (std::size_t i = 0; i < after.weight.size(); ++i) {
    oracle::StepBounds::Before const here = seen_step(stepped, i).before;
    if (m_is_right)
      m_is_right = lies_in(TensorKind::exp_avg, i, bounds.exp_avg(here), after.exp_avg[i]);
    if (v_is_right)
      v_is_right = lies_in(TensorKind::exp_avg_sq, i, bounds.exp_avg_sq(here), after.exp_avg_sq[i]);
    if (weight_is_right)
      weight_is_right =
          lies_in(weight, i, bounds.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]),
                  after.weight[i]);
  }
}

}  // namespace adamant::scenarios
