// Gradients of engines with an arithmetic of their own: what a backward may have reduced, and what
// clipping and unscaling may have made of it, which such engines do where the gradients lie. Each
// is admitted or reported, and the oracle goes on from what was seen. Laws: values.bitwise,
// values.interval, ranks.agree.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "oracle/interval/admissible.h"
#include "scenarios/judge/findings.h"
#include "scenarios/judge/reference.h"
#include "scenarios/judge/value_judge.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class GradientJudge {
 public:
  /// known: each number follows from the one before by PyTorch's formulas, in place; in_step: so it
  /// does, but what undoes the loss scale of gradients that no clip has seen is the step's kernel,
  /// which divides, and touches nothing where the step is skipped; any: it may be rounded in any
  /// way, and where or when is the engine's choice.
  enum class Rounding { known, in_step, any };

  GradientJudge(Rounding rounding, GradientClass kind, Reference& reference, ValueJudge& values,
                RunFindings& findings)
      : rounding_(rounding),
        kind_(kind),
        reference_(reference),
        values_(values),
        findings_(findings) {}

  /// Gradients are gone or new: they bear the loss scale, and nothing of a clip.
  void forget();

  /// One backward for the parameters that take part.
  void admit_backward(WorldView const& world, resolved::Backward const& backward);

  /// The norm that all ranks found, and gradients that are clipped in place, or untouched where the
  /// engine does it later.
  void admit_clip(WorldView const& world);

  /// What an update consumed of a gradient, and how far each value may be off.
  struct Consumed {
    std::vector<float> values;
    std::vector<float> slack;  // empty: not at all
  };
  /// What a step left of a gradient, unscaled in place or not, and what its update consumed.
  /// REQUIRES: the oracle has begun the step, under this loss scale. Nothing where a report was
  /// due.
  std::optional<Consumed> admit_consumed(WorldView const& world, int parameter, float loss_scale);
  /// All gradients of a step were looked at.
  void end_step() { unscaled_ = unscaled_ || unscales_; }

 private:
  /// One gradient as it was seen, and what it was before without its loss scale.
  struct Seen {
    int parameter = 0;
    ValueJudge::Gathered now;
    std::vector<float> unscaled;
  };
  /// What the factor of a clip may be.
  struct Factor {
    double lo = 1;
    double hi = 1;

    bool is_known() const { return !(lo < hi); }  // no number is one factor, too
    double middle() const { return is_known() ? lo : lo + (hi - lo) / 2; }
    /// How far a product by any of them is from that by the middle, which is rounded as well.
    double room_of(float value) const {
      return is_known() ? 0.0 : std::abs(value) * ((hi - lo) / 2 + hi * 0x1p-23) + 0x1p-149;
    }
  };
  using Bounds = std::vector<oracle::Admissible>;

  // What an engine did that will clip later.
  bool are_untouched(std::span<Seen const> all) const;
  bool are_unscaled(std::span<Seen const> all) const;
  /// Of an engine that may round it in any way.
  Factor any_factor(float norm, NumberFormat format) const;
  Factor any_factor_of_step(float norm, std::span<Seen const> seen) const;
  void admit_reduced(WorldView const& world, int parameter, std::int64_t backward);
  Bounds reduced(WorldView const& world, int parameter, std::int64_t backward, bool narrow) const;
  std::vector<std::vector<float>> inputs(WorldView const& world, int parameter,
                                         std::int64_t backward, bool narrow) const;
  std::vector<Seen> gather_all(WorldView const& world);
  float admit_norm(WorldView const& world, std::vector<Seen> const& seen);
  void admit_clipped(Seen const& seen, Factor const& factor);
  oracle::Admissible clipped(float gradient, Factor const& factor, NumberFormat format) const;
  /// The first element outside is reported as this breach.
  bool admit(int parameter, Bounds const& bounds, std::span<float const> values, Breach breach);
  std::span<float const> older(int parameter) const;
  float inverse(float loss_scale) const;
  /// Is the loss scale that gradients bear no power of two?
  bool scale_rounds() const;
  float max_norm() const { return reference_.model().scaling().max_norm.value_or(0); }

  Rounding rounding_;
  GradientClass kind_;
  Reference& reference_;
  ValueJudge& values_;
  RunFindings& findings_;
  bool unscaled_ = false;  // gradients bear no loss scale any more
  bool unscales_ = false;  // and it was this step that took it from them
  Factor later_;           // what the engine will clip by in the next step
};

}  // namespace adamant::scenarios
