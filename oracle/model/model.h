// A whole model under Adam: parameters, gradients, moments and step counters, and what each
// training operation does to them. The twin of a sharded engine that has no shards, no memory to
// save and no order to get wrong.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "oracle/model/zeroed_pages.h"
#include "oracle/quantise/recipes.h"
#include "oracle/scale/loss_scaler.h"
#include "oracle/types.h"

namespace adamant::oracle {

struct ModelConfig {
  std::vector<ParameterSpec> parameters;
  std::vector<AdamConfig> groups;  // indexed by ParameterSpec::group
  StepCounter step_counter = StepCounter::group;
  LossScale loss_scale = {};
  std::optional<float> max_norm = {};  // what clip() scales to
  ScalerRules scaler = megatron_scaler;
};

/// What a model knows of loss scale and clipping.
struct Scaling {
  float loss_scale = 1;   // of the next backward
  bool skipped = false;   // the last step, for what was not finite
  float inverse = 1;      // what the last step unscaled its gradients by
  float norm = 0;         // of the gradients that are there, if they were clipped
  float coefficient = 1;  // what follows from it
  int growth_tracker = 0;
  int hysteresis = 0;
  std::optional<float> max_norm = {};
};

/// Parameters start at 0, moments at 0, without gradients, with all counters at 0.
///
/// Shapes:   every tensor is flat [numel] of its parameter, row-major.
/// Rounding: tensors are arrays of fp32 whose values their format can hold; everything is computed
///           in fp32 and rounded once when it is stored. Of a state that is stored with a scale
///           they are what reading it gives, stored * scale; the scale is made anew from what is
///           about to be stored. Of a main weight that is stored as a remainder they are all of it,
///           and of a quantised parameter what reading its codes gives.
/// Errors: asserts indices, lengths, that every parameter's group exists, and that a recipe takes
///         its parameter's shape.
class Model {
 public:
  explicit Model(ModelConfig config);

  /// Fills elements [begin, begin + out.size()) of a tensor that is asked for in blocks.
  using Reader = std::function<void(std::int64_t begin, std::span<float> out)>;

  /// The parameter becomes these values, rounded to its format; a main weight is stored from the
  /// rounded ones. A quantised parameter's main weight becomes the values as they are, and the
  /// parameter is quantised from it, by fp8_delayed as if it never was before.
  void write_parameter(int parameter, std::span<float const> values);
  void write_parameter(int parameter, Reader const& read);

  /// Where formats ask for scales of their own (StateScale::local), the elements that share one:
  /// each entry of `shards` has one, also one without elements. They cover the parameter once, and
  /// until a state is stored or loaded its scales are 1. Without a call all elements share one.
  using Shards = std::vector<std::vector<ElementRange>>;
  void share_scales(int parameter, Shards shards);

  /// Due before the gradients of a backward: from here on those that are there are not clipped.
  void begin_backward() { clipped_ = {}; }

  /// What one backward does to one parameter: the gradient becomes `mean` rounded to its format,
  /// or if there is one already, older + that with one binary32 addition per element, rounded.
  void add_gradient(int parameter, std::span<float const> mean);

  void add_gradient(int parameter, Reader const& read);

  /// Replaces the gradient, for steps that go on from what an engine was seen to reduce.
  void set_gradient(int parameter, std::span<float const> values);

  /// set_to_none: no parameter has a gradient. Otherwise every one has a gradient of zeros, also
  /// one that had none, and the next step decays its moments and weights.
  void zero_grad(bool set_to_none);
  /// The parameter has no gradient.
  void drop_gradient(int parameter);

  /// Takes the norm of all gradients as the optimizer is handed them, without their loss scale:
  ///
  ///   norm = exact norm of fl32(g inverse)    coefficient = clip_coefficient(maximal norm, norm)
  ///
  /// Later steps multiply by it until a backward or zero_grad; a second clip replaces the first.
  /// REQUIRES: a maximal norm.
  void clip();

  /// What later clips scale to, or none.
  void set_max_norm(std::optional<float> max_norm) { config_.max_norm = max_norm; }

  /// From here on backwards are expected to bring gradients times this; a scaler starts afresh.
  void set_loss_scale(LossScale const& loss_scale);
  /// The same scale by other rules, afresh.
  void use_scaler(ScalerRules const& rules);

  /// One optimizer step: every parameter that has a gradient takes one adam_step and keeps its
  /// gradient; the others keep weight and moments. Legal also if no parameter has a gradient. The
  /// step works on the main weight where there is one, from which the parameter is then rounded,
  /// and on the gradient as the optimizer is handed it. The update uses the moments before they are
  /// rounded. A parameter with a recipe is quantised anew from its main weight.
  ///
  /// Counters: `group` ones advance all, with every step; `parameter` ones advance where there is a
  /// gradient. The step t that an update uses is the counter after it advanced.
  /// Under a loss scale: where a gradient is not finite, the step changes nothing but the scale.
  /// Gradients are used as fl32(fl32(g inverse) coefficient) and stay as they are.
  void step();

  /// The same step in parts, for a caller that wants to compare a parameter while it is in cache:
  /// begin_step() advances the counters, then step_parameter() is due once for each parameter, in
  /// any order, on any threads.
  void begin_step();
  void step_parameter(int parameter);
  /// In the place of step_parameter(): goes on from what an engine was seen to make of the
  /// optimizer's own weight and of both moments. A parameter beside a main weight is rounded from
  /// it. REQUIRES: no state has a scale, and the parameter no codes, which nobody was seen to make.
  struct Stepped {
    std::span<float const> weight;
    std::span<float const> exp_avg;
    std::span<float const> exp_avg_sq;
  };
  void adopt_step(int parameter, Stepped const& seen);
  /// Likewise in its place: the parameter stays as it is.
  void pass_over(int parameter);
  /// Does the step that was begun leave this parameter as it is?
  bool step_passes_over(int parameter) const;

  void set_group(int group, AdamConfig const& config);
  /// What a load did not bring back, as an engine was seen to have it.
  void set_steps(int parameter, std::int64_t steps) { state(parameter).counts = {steps, steps}; }
  /// What an engine may have had in the place of the moments; scales stay.
  void set_moments(int parameter, std::span<float const> exp_avg,
                   std::span<float const> exp_avg_sq);
  void set_scaler(LossScaler const& scaler);
  LossScaler const& scaler() const { return scaler_; }

  /// Every parameter is 0 again, in these formats. Errors: asserts that all else is as it was.
  void reformat(std::vector<Formats> const& formats);

  /// What a checkpoint keeps: weights, moments, counters, settings and the loss scaler, but no
  /// gradient.
  class Saved;
  Saved save() const;
  /// Becomes what was saved; no parameter has a gradient then. The weight is the saved main one, or
  /// the parameter where there was none. Numbers in the format of now stay what they were, with
  /// their scales where the same elements share one as did; others are stored anew, once, from what
  /// they are worth. A parameter beside a main weight counts as such numbers, but for a
  /// remainder's. Codes and what belongs to them stay under the same recipe; any other type's
  /// weight is quantised as if it never was before. REQUIRES: `saved` comes from a model of the
  /// same parameters and groups.
  void load(Saved const& saved);
  /// A tensor.
  struct Place {
    int parameter = 0;
    TensorKind kind = TensorKind::parameter;
  };
  /// Kinds of each parameter's tensors; empty: none of any.
  using Kinds = std::vector<std::vector<TensorKind>>;
  /// The first tensor of another format than the saved one and of a kind that is not among
  /// `may_round` of which a load would not keep every number, or nothing. A main weight that goes
  /// lives on in its parameter.
  std::optional<Place> rounded_by(Saved const& saved, Kinds const& may_round) const;

  Scaling scaling() const;
  /// Is there a loss scale or a maximal norm?
  bool scales() const { return scaler_.looks() || config_.max_norm; }
  int parameter_count() const;
  ParameterSpec const& spec(int parameter) const;
  AdamConfig const& group(int group) const;
  int group_count() const { return static_cast<int>(config_.groups.size()); }

  /// Empty where a parameter has no tensor of that kind: no gradient now, no main weight, no cast.
  std::span<float const> tensor(int parameter, TensorKind kind) const;
  /// The scales that the tensor is stored with: one, or with shared ones apart (share_scales()) one
  /// of each shard. Empty where it has none.
  std::span<float const> scales(int parameter, TensorKind kind) const;
  /// What share_scales() said; empty: all elements share.
  Shards const& shards(int parameter) const { return state(parameter).shards; }
  /// REQUIRES of both: the parameter has a recipe, or fp8_delayed.
  Quantised const& quantised(int parameter) const;
  DelayedScale const& delayed_scale(int parameter) const;
  bool has_gradient(int parameter) const;
  /// Steps executed so far as this parameter's counter (its group's or its own) sees them.
  std::int64_t step_count(int parameter) const { return steps_of(state(parameter)); }
  /// Both counters, of which step_count() is one.
  struct Counts {
    std::int64_t of_group = 0;      // executed steps
    std::int64_t of_parameter = 0;  // those that found a gradient
  };
  Counts counts(int parameter) const { return state(parameter).counts; }

 private:
  using Tensor = std::vector<float, ZeroedPages<float>>;
  struct State {
    Tensor value;
    Tensor gradient;
    Tensor exp_avg;
    Tensor exp_avg_sq;
    Tensor main;           // empty: the optimizer works on `value`
    Tensor cast_gradient;  // empty: it is handed `gradient`
    Quantised quantised;   // what `value` is read from, where there is a recipe
    DelayedScale delayed;  // of fp8_delayed
    std::array<std::vector<float>, tensor_kind_count> scales;  // empty: stored without
    Shards shards;  // that have scales of their own; empty: all elements share
    bool has_gradient = false;
    bool due = false;  // begin_step() was called, step_parameter() not yet
    Counts counts;
  };

  /// What clip() found of the gradients that are there.
  struct Clipped {
    float norm = 0;
    float coefficient = 1;
  };

  void cast_gradient(int parameter);
  static State initial_state(ParameterSpec const& spec);
  static Tensor& tensor_of(State& state, TensorKind kind);
  static void store(State& state, TensorKind kind, NumberFormat format);
  static void store_first_weights(State& state, ParameterSpec const& spec);
  static void store_weights(State& state, ParameterSpec const& spec);
  /// The parameter becomes codes of its main weight.
  static void quantise(State& state, ParameterSpec const& spec);
  static void quantise_first(State& state, ParameterSpec const& spec);
  /// The weight becomes the parameter that is cast from it.
  static void store_parameter(Tensor& weight, Formats const& formats);
  std::int64_t steps_of(State const& state) const;
  State loaded(Saved const& saved, int parameter) const;
  void load_parameter(State& state, Saved const& saved, int parameter) const;
  Tensor const& handed(State const& state) const;
  bool all_finite() const;
  /// One adam_step on a parameter's weight, with unscaled and clipped gradients.
  void update(State& state, AdamConfig const& config, std::span<float> weight) const;
  State& state(int parameter);
  State const& state(int parameter) const;

  ModelConfig config_;
  std::vector<State> states_;
  LossScaler scaler_;
  bool skipped_ = false;
  float inverse_ = 1;  // of the last step
  Clipped clipped_;
};

class Model::Saved {
 public:
  /// What was read from somewhere else. Shapes: whole tensors, as the model has them. Kinds:
  /// parameter, main, exp_avg, exp_avg_sq. It has no scale until set_scales(), and then reading it
  /// is multiplying by nothing.
  void set(int parameter, TensorKind kind, NumberFormat format, std::span<float const> values);
  /// What the numbers as they were stored are worth, where that is said apart from the values: a
  /// load that keeps them has these. REQUIRES: set() before.
  void set_stored(int parameter, TensorKind kind, std::span<float const> worth);
  /// One of each of these shards, or of all elements where there are none; see share_scales().
  void set_scales(int parameter, TensorKind kind, Shards const& shards, std::vector<float> scales);
  /// What a parameter of this shape is read from; a load that keeps it has what reading gives,
  /// any other the values. REQUIRES: set() before.
  void set_quantised(int parameter, Recipe recipe, MatrixShape shape, Quantised quantised,
                     DelayedScale const& delayed = {});
  /// It was saved as a whole and is loaded in parts, or the other way round: what has a scale is
  /// then stored anew, once, from what it is worth, and codes are made of the weight.
  void set_in_other_form(int parameter);
  void drop_main(int parameter);
  void set_counts(int parameter, Counts const& counts);
  void set_group(int group, AdamConfig const& config);
  void set_scaling(LossScaler const& scaler, std::optional<float> max_norm);

 private:
  friend class Model;
  Tensor const& kept(int parameter, TensorKind kind) const;

  std::vector<State> states_;
  /// By parameter, of tensors that were set apart from their values; empty otherwise.
  std::vector<std::array<Tensor, tensor_kind_count>> stored_;
  std::vector<Formats> formats_;
  std::vector<char> in_other_form_;  // by parameter
  std::vector<AdamConfig> groups_;
  LossScaler scaler_;
  std::optional<float> max_norm_;
};

}  // namespace adamant::oracle
