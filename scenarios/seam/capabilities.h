// What an engine says that it can do: the words of the language that it executes, and which
// formulas its oracle has to follow. Admission, generators and minimisers ask this, and never which
// engine it is. It judges no scenario; that is seam/support.h.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/arithmetic.h"

namespace adamant::scenarios {

/// The numbers that a rank's gradient may have before it is reduced: those of precision.grad, of
/// precision.param where it comes from an autograd through the parameter as it is computed with, or
/// of both at once.
enum class GradientType { grad, param, both };

/// A part of a scenario's recipe: the types that may stand together, each kind freely combined.
struct PrecisionOffer {
  std::vector<ParamType> param = {};
  std::vector<GradType> grad = {};
  std::vector<MainType> main = {};
  std::vector<StateType> exp_avg = {};
  std::vector<StateType> exp_avg_sq = {};
  /// The loss scales that these types go with; empty: all that the engine has.
  std::vector<LossScale::Kind> loss_scale = {};

  bool accepts(Precision const& precision) const;

  friend bool operator==(PrecisionOffer const&, PrecisionOffer const&) = default;
};

/// What `zero_grad` may leave.
enum class ZeroGradKind { none, zeros };

/// A choice that an engine offers by name; `values` are texts, the first is the default.
struct EngineOption {
  std::string name = {};
  std::vector<std::string> values = {};

  friend bool operator==(EngineOption const&, EngineOption const&) = default;
};

/// What a run keeps in this machine's memory for every pair of ranks.
struct PairBytes {
  double always = 0;
  double per_gather = 0;  // of one parameter in one backward

  friend bool operator==(PairBytes const&, PairBytes const&) = default;
};

/// Everything is off or empty unless an engine offers it.
struct Capabilities {
  std::string engine = {};  // what messages call it
  Arithmetic arithmetic = Arithmetic::te;

  // ---- worlds ----
  std::vector<Layout> layouts = {};  // none: it executes nothing
  std::int64_t ranks_max = std::numeric_limits<std::int64_t>::max();
  std::int64_t replicate_max = 1;
  bool empty_tensors = true;  // may a parameter have no element

  // ---- number formats ----
  std::vector<PrecisionOffer> precisions = {};
  /// What a load may change a recipe to, beside `precisions`; absent: a load changes none.
  std::optional<std::vector<PrecisionOffer>> load_precisions = {};
  bool own_precision = false;  // may a parameter have other types than the recipe
  GradientType gradient_type = GradientType::grad;

  // ---- the optimizer ----
  std::vector<AdamMode> optimizers = {};
  std::vector<StepCounter> step_counters = {};
  std::vector<bool> bias_correction = {};
  bool cast_gradients = false;  // decoupled_grad: false, where it makes a copy
  bool clip = false;
  std::vector<LossScale::Kind> loss_scale = {};
  /// The scaler divides gradients where they are, so that they cannot be used again.
  bool unscales_in_place = false;
  /// Clip and scaler change the gradient where it lies, and a state shows it so.
  bool gradients_in_place = false;
  std::vector<Settable> set = {};

  // ---- operations ----
  std::vector<GradientClass> gradients = {};
  std::vector<ZeroGradKind> zero_grad = {};
  bool capturable = false;  // capture and replay
  bool offload = false;     // as a setting and as an operation
  bool save = false;
  bool load = false;
  bool loads_in_any_order = false;  // a load may register parameters in another order

  // ---- what goes wrong on purpose ----
  bool can_crash = false;
  /// The kinds of damage that its checkpoints promise to notice; others may end in any way.
  std::vector<Fault::Then> detects_damage = {};
  bool out_of_memory = false;
  bool bugs = false;  // defects can be switched on

  // ---- what it shows and keeps ----
  bool local_gradients = false;  // gradients of a rank before they are reduced
  bool carries_groups = false;   // its checkpoints hold the settings of groups

  // ---- how it runs ----
  bool schedules = false;  // there are choices to make, to draw and to record
  bool isolated = false;   // it runs in a process of its own, and each run costs much
  PairBytes pair_bytes = {};
  std::vector<EngineOption> options = {};

  friend bool operator==(Capabilities const&, Capabilities const&) = default;
};

/// The engine in the simulator, checked and unchecked; both do the same.
Capabilities const& capabilities_of_simulation();
Capabilities const& capabilities_of_unchecked_simulation();
/// The engine on GPUs.
Capabilities const& capabilities_of_gpus();

/// Those of an engine by its name; null for engines outside the process, which have to be asked.
Capabilities const* capabilities_in_process(std::string_view engine);

/// Is `value` in a list of what is offered?
template <typename T>
bool offers(std::vector<T> const& offered, T const& value) {
  for (T const& one : offered)
    if (one == value) return true;
  return false;
}

/// Does some offer accept all types of `precision` together?
bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision);
/// The same under a loss scale of that kind.
bool accepted(std::vector<PrecisionOffer> const& precisions, Precision const& precision,
              LossScale::Kind scale);

/// The option of that name, or null.
EngineOption const* find_option(Capabilities const& capabilities, std::string_view name);

/// Every option of the engine in its order, as `choice` says or by default: what the engine is
/// opened with.
std::vector<std::pair<std::string, std::string>> all_options(Capabilities const& capabilities,
                                                             EngineChoice const& choice);

}  // namespace adamant::scenarios
