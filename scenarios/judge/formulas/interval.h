// Any order of operations, any fusing: each element lies in the interval that the oracle derives
// from what was there before (oracle/interval). Law: values.interval.
#pragma once

#include "scenarios/judge/formulas/admitted.h"

namespace adamant::scenarios {

class IntervalFormulas final : public Admitted {
 public:
  explicit IntervalFormulas(FormulasParts const& parts)
      : Admitted(parts, GradientJudge::Rounding::any) {}

 private:
  void admit_elements(Stepped const& stepped) override;
};

}  // namespace adamant::scenarios
