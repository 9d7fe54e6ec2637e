// What worlds with an arithmetic of their own have in common: their numbers are admitted from what
// was observed before, and the oracle goes on from what is observed after. How an element of a step
// is admitted is each arithmetic's own.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/judge/formulas/formulas.h"
#include "scenarios/judge/gradient_judge.h"
#include "scenarios/judge/value_judge.h"

namespace adamant::scenarios {

class Admitted : public Formulas {
 public:
  Admitted(FormulasParts const& parts, GradientJudge::Rounding rounding);

  void started() override;
  void backward(WorldView const& world, resolved::Backward const& backward) override;
  void clip(WorldView const& world) override;
  void step(WorldView const& world) override;
  void zero_grad(WorldView const& world, bool set_to_none) override;
  void loaded() override;

  bool may_store(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const override;
  RankScaling comparable(RankScaling const& scaling, bool stepped) const override;
  bool has_empty_groups() const override { return false; }

 protected:
  /// A parameter's tensors: spans of before the step, as the oracle has them, and after it.
  struct Tensors {
    std::span<float const> weight;
    std::span<float const> exp_avg;
    std::span<float const> exp_avg_sq;
  };
  struct Stepped {
    int parameter;
    ParameterSpec const& spec;
    AdamConfig const& group;
    std::int64_t step;   // its count
    TensorKind weights;  // the optimizer's own
    GradientJudge::Consumed const& consumed;
    Tensors before;
    Tensors after;
  };
  /// Holds the elements of one parameter's step to the formulas.
  virtual void admit_elements(Stepped const& stepped) = 0;

  static oracle::SeenStep seen_step(Stepped const& stepped, std::size_t i);
  /// An element is wrong. Where it is the first of its tensor, what to report of it goes here; else
  /// null.
  Violation* wrong(TensorKind kind, std::size_t index);
  /// Is this element within its bound? Else it is wrong.
  void hold(Stepped const& stepped, TensorKind kind, std::size_t index,
            oracle::Admissible const& bound, float actual);
  Site site_of(Stepped const& stepped, TensorKind kind, std::size_t index) const;

 private:
  void admit_parameter(WorldView const& world, int parameter,
                       GradientJudge::Consumed const& consumed);

  FormulasParts parts_;
  GradientJudge gradients_;
  struct Wrong {
    TensorKind kind;
    Violation first = {};
    std::vector<ElementRange> elements = {};
  };
  std::vector<Wrong> wrong_ = {};  // tensors of the parameter that is looked at
};

}  // namespace adamant::scenarios
