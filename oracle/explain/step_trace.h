// One step of one element, operation by operation: by the oracle's own order as a model takes it,
// by PyTorch's, and as the interval of any order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "oracle/explain/trace.h"
#include "oracle/interval/admissible.h"
#include "oracle/interval/step_bounds.h"
#include "oracle/model/model.h"
#include "oracle/quantise/recipes.h"
#include "oracle/types.h"

namespace adamant::oracle {

/// An element of a parameter, its main weight or one of its moments.
struct ElementOf {
  int parameter = 0;
  TensorKind kind = TensorKind::parameter;
  std::int64_t index = 0;
};

/// What the next step of `before` makes of an element; nothing where the step passes over it.
/// REQUIRES: the parameter has such a tensor, and the element.
std::optional<Term> trace_step(Trace& trace, Model const& before, ElementOf const& element);

/// What a model keeps of a number `x` that was computed or loaded, among all values of its tensor
/// (of a weight those of the optimizer's own), as they are before they are stored. `delayed` is of
/// fp8_delayed alone, as it was before.
struct Storing {
  Term x;
  std::span<float const> all;
  DelayedScale delayed = {};
};
Term trace_store(Trace& trace, Model const& into, ElementOf const& element, Storing const& what);

/// One element before a step by another arithmetic, and its moments as they were seen after it.
struct SeenStep {
  AdamConfig config;
  std::int64_t step = 1;
  StepBounds::Before before;
  float exp_avg = 0;  // after the step
  float exp_avg_sq = 0;
};

/// PyTorch's order. A weight may be one for each root that PyTorch may take; a moment is one
/// number.
Admissible trace_torch(Trace& trace, SeenStep const& seen, TensorKind kind);

/// Any order: the exact result and its bound, whose ends are rounded once.
Admissible trace_any_order(Trace& trace, SeenStep const& seen, StepFormats const& formats,
                           TensorKind kind);

}  // namespace adamant::oracle
