// PyTorch's single and foreach kernels in fp32: moments bit for bit, weights by what their formula
// leaves open (oracle/torch). Laws: values.bitwise, values.interval.
#pragma once

#include "scenarios/judge/formulas/admitted.h"

namespace adamant::scenarios {

class TorchFormulas final : public Admitted {
 public:
  explicit TorchFormulas(FormulasParts const& parts)
      : Admitted(parts, GradientJudge::Rounding::known) {}

 private:
  void admit_elements(Stepped const& stepped) override;
};

}  // namespace adamant::scenarios
