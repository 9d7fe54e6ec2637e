// What a scenario says about numbers and the optimizer: the types of parameters, gradients, weights
// and moments, Adam's settings and what a group or a `set` changes of them. It knows no YAML key
// and nothing of what an engine supports.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

enum class ParamType { fp32, bf16, fp16, fp8_delayed, fp8_current, fp8_block, mxfp8, nvfp4 };
enum class GradType { fp32, bf16, fp16 };
enum class MainType { none, fp32, bf16, fp16, remainder };
enum class StateType { fp32, bf16, fp16, fp8 };
/// The types of one parameter and of everything that belongs to it, each held in a `Held`.
template <template <typename> typename Held>
struct Types {
  Held<ParamType> param = {};
  Held<GradType> grad = {};
  Held<MainType> main = {};
  Held<StateType> exp_avg = {};
  Held<StateType> exp_avg_sq = {};
  Held<StateScale> state_scale = {};

  friend auto operator<=>(Types const&, Types const&) = default;
};

template <typename T>
using Itself = T;

using Precision = Types<Itself>;
/// What one parameter, or a load, changes of the recipe around it.
using PrecisionOverride = Types<std::optional>;

/// The number format of a type, or nothing where it is none (a quantised type, no main weight).
std::optional<NumberFormat> format_of(ParamType type);
NumberFormat format_of(GradType type);
std::optional<NumberFormat> format_of(MainType type);
NumberFormat format_of(StateType type);

/// `recipe` with everything that `change` names replaced.
Precision with(Precision recipe, PrecisionOverride const& change);

/// What leads from one recipe to the other: with(from, difference(from, to)) is `to`.
PrecisionOverride difference(Precision const& from, Precision const& to);

/// The kinds of tensors that checkpoints keep whose types `change` names, and `own` does not: what
/// a parameter says of itself wins.
std::vector<TensorKind> named_kinds(PrecisionOverride const& change, PrecisionOverride const& own);

/// By which recipe parameters of that type are kept as codes with scales, or nothing where they are
/// numbers.
std::optional<Recipe> recipe_of(ParamType type);
bool is_quantised(ParamType type);

/// Is a state of it, or the main weight, of a type that is kept with a scale, unless `state_scale`
/// is none?
bool has_scalable_state(Precision const& precision);

/// Is one kept with a scale?
bool has_scaled_state(Precision const& precision);

/// Sides of what one scale covers, and of what both sides of a matrix are multiples of: 1 where a
/// scale covers all of it. A block of mxfp8 has but one row of them.
std::int64_t block_side(ParamType recipe);

/// Whether a recipe can quantise a tensor of that shape: a matrix with elements, rows by last
/// dimension, that no block of scales covers in part.
bool takes(ParamType recipe, std::span<std::int64_t const> shape);

/// Why nothing can keep such types of one parameter together, whatever executes it: the detail of
/// the refusal, and a reason in words.
struct TypeConflict {
  std::string_view detail = {};
  std::string_view why = {};
};
std::optional<TypeConflict> conflict_in(Precision const& precision);

/// The maximal global norm, > 0, or none.
using Clip = std::optional<float>;

struct Optimizer {
  AdamConfig adam = {};
  bool decoupled_grad = true;
  bool keep_cast_grad = false;
  StepCounter step_counter = StepCounter::group;
  bool capturable = false;
  Clip clip = {};
  LossScale loss_scale = {};

  friend bool operator==(Optimizer const&, Optimizer const&) = default;
};

/// Settings of Adam that a group overrides or a `set` changes; what is absent stays as it was.
///
/// Units: binary32, rounded decimal -> binary64 -> binary32, in the ranges of AdamConfig.
struct AdamOverride {
  std::optional<float> lr = {};
  std::optional<std::array<float, 2>> betas = {};
  std::optional<float> eps = {};
  std::optional<float> weight_decay = {};
  std::optional<bool> bias_correction = {};  // never in a `set`

  friend bool operator==(AdamOverride const&, AdamOverride const&) = default;
};

/// A named group of parameters and what it overrides.
struct Group {
  std::string name = {};
  AdamOverride settings = {};

  friend bool operator==(Group const&, Group const&) = default;
};

/// What `set` changes from its operation on.
struct SettingsChange {
  AdamOverride adam = {};
  std::optional<Clip> clip = {};  // outer: is it changed; inner: to what
  std::optional<LossScale> loss_scale = {};

  friend bool operator==(SettingsChange const&, SettingsChange const&) = default;
};

/// What `config` overrides of the defaults, the mode apart: with({}, difference(config)) is it.
AdamOverride difference(AdamConfig const& config);
/// `config` with everything that `change` names replaced.
AdamConfig with(AdamConfig config, AdamOverride const& change);
/// What `change` says and `own` does not.
AdamOverride without(AdamOverride change, AdamOverride const& own);

/// A number of a configuration. Both betas have one key.
struct AdamNumber {
  std::string_view key;
  std::string_view name;  // by itself: "lr", "beta1"
  int beta = -1;          // which of betas it is
  float AdamConfig::*place = nullptr;
};
/// All of them, as files list them.
std::span<AdamNumber const> numbers_of_adam();
/// `optimizer` after a `set`.
Optimizer with(Optimizer optimizer, SettingsChange const& change);

/// The settings of every group: number 0 the optimizer's own, for parameters without a group, then
/// the named ones in file order. A group's value wins over the optimizer's, also over a later `set`
/// (apply it with `with` and ask again).
std::vector<AdamConfig> group_configs(Optimizer const& optimizer, std::vector<Group> const& groups);

}  // namespace adamant::scenarios
