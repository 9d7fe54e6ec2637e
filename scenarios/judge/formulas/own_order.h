// The oracle's own order of operations, which is TransformerEngine's: every bit is known. Only what
// sums in an unknown order reduced is admitted. Laws: values.bitwise, values.interval.
#pragma once

#include "scenarios/judge/formulas/formulas.h"

namespace adamant::scenarios {

class OwnOrder final : public Formulas {
 public:
  explicit OwnOrder(FormulasParts const& parts) : parts_(parts) {}

  void backward(WorldView const& world, Primitive const& operation) override;
  void clip(WorldView const& world) override;
  void step(WorldView const& world) override;
  void zero_grad(WorldView const& world, bool set_to_none) override;

  bool may_store(ParameterSpec const&, TensorKind, NumberFormat) const override { return false; }
  RankScaling comparable(RankScaling const& scaling, bool) const override { return scaling; }
  bool has_empty_groups() const override { return true; }

 private:
  FormulasParts parts_;
};

}  // namespace adamant::scenarios
