#include "scenarios/judge/formulas/formulas.h"

#include <algorithm>

#include "scenarios/judge/formulas/interval.h"
#include "scenarios/judge/formulas/own_order.h"
#include "scenarios/judge/formulas/torch.h"

namespace adamant::scenarios {

bool has_part(Primitive const& backward, int parameter) {
  auto const& without = backward.without;
  return std::find(without.begin(), without.end(), parameter) == without.end();
}

std::unique_ptr<Formulas> make_formulas(Arithmetic arithmetic, FormulasParts const& parts) {
  switch (arithmetic) {
    case Arithmetic::torch:
      return std::make_unique<TorchFormulas>(parts, GradientJudge::Rounding::known);
    case Arithmetic::torch_fused:
      return std::make_unique<TorchFormulas>(parts, GradientJudge::Rounding::in_step);
    case Arithmetic::interval:
      return std::make_unique<IntervalFormulas>(parts);
    case Arithmetic::own_order:
      break;
  }
  return std::make_unique<OwnOrder>(parts);
}

}  // namespace adamant::scenarios
