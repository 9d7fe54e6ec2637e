// By whose formulas a world is judged: in the oracle's own order of operations, by PyTorch's, or by
// any order's. One object, chosen when the world starts (language/capabilities.h).
//
// The oracle follows every operation. By its own order it computes what the world must have; by
// another's it admits what the world shows, or reports it, and goes on from that.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "scenarios/judge/findings.h"
#include "scenarios/judge/reference.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class ValueJudge;

/// What a backward makes.
inline constexpr TensorKind reduced_kinds[] = {TensorKind::gradient, TensorKind::cast_gradient};

/// Does the parameter get a gradient from this backward?
bool has_part(resolved::Backward const& backward, int parameter);

class Formulas {
 public:
  virtual ~Formulas() = default;

  // ---- operations ----
  /// The first world of the run stands.
  virtual void started() {}
  /// The oracle has begun the backward.
  virtual void backward(WorldView const& world, resolved::Backward const& backward) = 0;
  virtual void clip(WorldView const& world) = 0;
  virtual void step(WorldView const& world) = 0;
  virtual void zero_grad(WorldView const& world, bool set_to_none) = 0;
  /// A load has taken the gradients away.
  virtual void loaded() {}

  // ---- what can be compared ----
  /// May the world keep a tensor in this type, beside the one that the recipe names?
  virtual bool may_store(ParameterSpec const& spec, TensorKind kind, NumberFormat held) const = 0;
  /// What a world says of its scaling, as far as it means the same as the oracle's; `stepped`:
  /// right after a step.
  virtual RankScaling comparable(RankScaling const& scaling, bool stepped) const = 0;
  /// Does a group without parameters exist in the engine?
  virtual bool has_empty_groups() const = 0;
};

/// Has the oracle follow every parameter with `follow_one`, and compares tensors of these kinds.
using FollowEach = std::function<void(WorldView const& world, std::span<TensorKind const> kinds,
                                      std::function<void(int parameter)> const& follow_one)>;

/// What formulas work with. All of it outlives them.
struct FormulasParts {
  GradientClass gradients;
  Reference& reference;
  ValueJudge& values;
  RunFindings& findings;
  FollowEach follow_each;
};

std::unique_ptr<Formulas> make_formulas(Arithmetic arithmetic, FormulasParts const& parts);

}  // namespace adamant::scenarios
