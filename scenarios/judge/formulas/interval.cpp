#include "scenarios/judge/formulas/interval.h"

#include "oracle/interval/step_bounds.h"

namespace adamant::scenarios {

void IntervalFormulas::admit_elements(Stepped const& stepped) {
  auto const& after = stepped.after;
  TensorKind const weight = weight_kind(spec(stepped));
  oracle::StepBounds const bounds(group(stepped), step_count(stepped),
                                  oracle::step_formats(spec(stepped).formats));
  for (std::size_t i = 0; i < after.weight.size(); ++i) {
    oracle::StepBounds::Before const here = seen_step(stepped, i).before;
    hold(stepped, TensorKind::exp_avg, i, bounds.exp_avg(here), after.exp_avg[i]);
    hold(stepped, TensorKind::exp_avg_sq, i, bounds.exp_avg_sq(here), after.exp_avg_sq[i]);
    hold(stepped, weight, i, bounds.weight(here.weight, after.exp_avg[i], after.exp_avg_sq[i]),
         after.weight[i]);
  }
}

}  // namespace adamant::scenarios
