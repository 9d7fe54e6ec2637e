// PyTorch's kernels in fp32: moments bit for bit, weights by what their formula leaves open
// (oracle/torch). How they undo the loss scale is said by the rounding of gradients. Laws:
// values.bitwise, values.interval.
#pragma once

#include "scenarios/judge/formulas/admitted.h"

namespace adamant::scenarios {

class TorchFormulas final : public Admitted {
 public:
  TorchFormulas(FormulasParts const& parts, GradientJudge::Rounding rounding)
      : Admitted(parts, rounding) {}

 private:
  void admit_elements(Stepped const& stepped) override;
};

}  // namespace adamant::scenarios
