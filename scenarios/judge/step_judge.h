// Steps of engines with an arithmetic of their own: each element of moments and weights is held to
// what the oracle admits, from what was observed before the step, and the oracle goes on from what
// is observed after it. Laws: values.bitwise for moments whose formulas are known, values.interval
// for everything else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/judge/findings.h"
#include "scenarios/judge/gradient_judge.h"
#include "scenarios/judge/reference.h"
#include "scenarios/judge/value_judge.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class StepJudge {
 public:
  StepJudge(Reference& reference, ValueJudge& values, GradientJudge& gradients, Findings& findings)
      : reference_(reference), values_(values), gradients_(gradients), findings_(findings) {}

  /// One step of all parameters that have a gradient.
  void admit_step(WorldView const& world);

  /// The largest part of an interval that a moment or a weight used so far.
  double used() const { return used_; }

 private:
  /// A parameter's tensors after the step.
  struct After {
    std::vector<float> weight;
    std::vector<float> exp_avg;
    std::vector<float> exp_avg_sq;
  };
  std::optional<After> gather(WorldView const& world, int parameter);
  void admit_parameter(WorldView const& world, int parameter,
                       GradientJudge::Consumed const& consumed);
  void admit_torch(int parameter, GradientJudge::Consumed const& consumed, After const& after);
  void admit_interval(int parameter, GradientJudge::Consumed const& consumed, After const& after);
  /// An element, whose place is put into words only where it is reported.
  struct Place {
    int parameter;
    TensorKind kind;
    std::int64_t index;
  };
  bool admit(Place const& place, oracle::Admissible const& bound, float actual);

  Reference& reference_;
  ValueJudge& values_;
  GradientJudge& gradients_;
  Findings& findings_;
  double used_ = 0;
};

}  // namespace adamant::scenarios
