// What an engine can offer of the language, in the language's own words; a key of the tables names
// the member that it needs. Who offers what is the engines', and what is asked of it the seam's.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/scenario.h"

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
  std::vector<StateScale> state_scale = {};  // where a state is scaled; empty: global alone
  /// The loss scales that these types go with; empty: all that the engine has.
  std::vector<LossScale::Kind> loss_scale = {};

  bool accepts(Precision const& precision) const;

  friend bool operator==(PrecisionOffer const&, PrecisionOffer const&) = default;
};

/// What `zero_grad` may leave.
enum class ZeroGradKind { none, zeros };

/// Whose formulas an engine steps by. The word alone: what follows from it is in oracle/ and in
/// judge/formulas/.
///
/// own_order: the oracle's, which is TransformerEngine's, bit for bit (oracle/adam); `te` in the
///            protocol
/// torch:     PyTorch's single and foreach kernels in fp32: moments bit for bit (oracle/torch)
/// torch_fused: the same of its fused kernel on whole vectors, which undoes the loss scale itself
/// interval:  any order of operations, any fusing (oracle/interval)
enum class Arithmetic { own_order, torch, torch_fused, interval };

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
  Arithmetic arithmetic = Arithmetic::own_order;

  // ---- worlds ----
  std::vector<Layout> layouts = {};  // none: it executes nothing
  std::int64_t ranks_max = std::numeric_limits<std::int64_t>::max();
  std::int64_t replicate_max = 1;
  std::vector<Outer> outers = {Outer::none};
  bool empty_tensors = true;  // may a parameter have no element
  bool parts = false;         // may it be saved in parts
  bool tied = false;          // may it have several names; not in another process, whose
                              // requests know one gradient of each parameter

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
  std::vector<std::string_view> set = {};  // keys that `set` may change

  // ---- operations ----
  std::vector<GradientClass> gradients = {};
  std::vector<ZeroGradKind> zero_grad = {};
  bool capturable = false;  // capture and replay
  /// Why a parameter stands in the way of a capture, or "" where it can; null: any can.
  std::string (*why_not_captured)(ParameterSpec const&, Optimizer const&) = nullptr;
  /// Of a world in which graphs are captured: with more, ranks would meet on the host in between.
  std::int64_t captured_ranks_max = std::numeric_limits<std::int64_t>::max();
  bool offload = false;  // as a setting and as an operation
  bool save = false;
  bool load = false;
  bool loads_in_any_order = false;         // a load may register parameters in another order
  bool loads_anew = false;                 // it may say that it is in a new job
  bool captures_with_checkpoints = false;  // save and load where graphs are captured

  // ---- what goes wrong on purpose ----
  bool can_crash = false;
  /// The kinds of damage that its checkpoints promise to notice; others may end in any way.
  std::vector<Fault::Then> detects_damage = {};
  /// Those that a search does to it although it promises nothing: it refuses, or what it loads is
  /// right.
  std::vector<Fault::Then> other_damage = {};
  bool out_of_memory = false;
  bool bugs = false;  // defects can be switched on

  // ---- what it shows and keeps ----
  bool local_gradients = false;  // gradients of a rank before they are reduced
  bool carries_groups = false;   // its checkpoints hold the settings of groups

  // ---- what two runs of it have in common ----
  /// What a search holds it to. A file may hold it to all of them.
  std::vector<Promise> promises = {};
  std::vector<std::string> same_options = {};  // names of options that must not matter
  std::vector<std::string> same_files = {};    // endings of files that saves write alike

  // ---- how it runs ----
  bool schedules = false;  // there are choices to make, to draw and to record
  bool isolated = false;   // it runs in a process of its own, and each run costs much
  PairBytes pair_bytes = {};
  std::vector<EngineOption> options = {};
  /// Files of defects that are known of it (search/known_defects.h): its own first, then those of
  /// what it is built on.
  std::vector<std::string> known_defects = {};
  std::vector<std::string> notes = {};  // what a reader of its results should know
  /// A command, word by word, that makes a script of a recorded session; empty: it has none.
  std::vector<std::string> script = {};

  friend bool operator==(Capabilities const&, Capabilities const&) = default;
};

}  // namespace adamant::scenarios
