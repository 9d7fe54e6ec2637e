// A whole model under Adam: parameters, gradients, moments and step counters, and what each
// training operation does to them. The twin of a sharded engine that has no shards, no memory to
// save and no order to get wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "oracle/model/zeroed_pages.h"
#include "oracle/types.h"

namespace adamant::oracle {

struct ModelConfig {
  std::vector<ParameterSpec> parameters;
  std::vector<AdamConfig> groups;  // indexed by ParameterSpec::group
  StepCounter step_counter = StepCounter::group;
};

/// Parameters start at 0, moments at 0, without gradients, with all counters at 0.
///
/// Shapes:   every tensor is flat [numel] of its parameter, row-major.
/// Rounding: tensors are arrays of fp32 whose values their format can hold; everything is computed
///           in fp32 and rounded once when it is stored.
/// Errors: asserts indices, lengths and that every parameter's group exists.
class Model {
 public:
  explicit Model(ModelConfig config);

  /// Writes elements [begin, begin + values.size()), rounded to the parameter's format; a main
  /// weight becomes equal to the rounded values.
  void write_parameter(int parameter, std::int64_t begin, std::span<float const> values);

  /// What one backward does to one parameter: the gradient becomes `mean` rounded to its format,
  /// or if there is one already, older + that with one binary32 addition per element, rounded.
  void add_gradient(int parameter, std::span<float const> mean);

  /// The same with a mean that is asked for in blocks: `read(begin, out)` fills `out` with elements
  /// [begin, begin + out.size()).
  using MeanReader = std::function<void(std::int64_t begin, std::span<float> out)>;
  void add_gradient(int parameter, MeanReader const& read);

  /// Replaces the gradient, for steps that go on from what an engine was seen to reduce.
  void set_gradient(int parameter, std::span<float const> values);

  /// set_to_none: no parameter has a gradient. Otherwise every one has a gradient of zeros, also
  /// one that had none, and the next step decays its moments and weights.
  void zero_grad(bool set_to_none);

  /// One optimizer step: every parameter that has a gradient takes one adam_step and keeps its
  /// gradient; the others keep weight and moments. Legal also if no parameter has a gradient. The
  /// step works on the main weight where there is one, from which the parameter is then rounded,
  /// and on the gradient as the optimizer is handed it. The update uses the moments before they are
  /// rounded.
  ///
  /// Counters: `group` ones advance all, with every step; `parameter` ones advance where there is a
  /// gradient. The step t that an update uses is the counter after it advanced.
  void step();

  /// The same step in parts, for a caller that wants to compare a parameter while it is in cache:
  /// begin_step() advances the counters, then step_parameter() is due once for each parameter, in
  /// any order, on any threads.
  void begin_step();
  void step_parameter(int parameter);

  void set_group(int group, AdamConfig const& config);

  /// What a checkpoint keeps: weights, moments, counters and settings, but no gradient.
  class Saved;
  Saved save() const;
  /// Becomes what was saved; no parameter has a gradient then. REQUIRES: `saved` comes from a model
  /// of the same parameters and groups.
  void load(Saved const& saved);

  int parameter_count() const;
  ParameterSpec const& spec(int parameter) const;
  AdamConfig const& group(int group) const;
  int group_count() const { return static_cast<int>(config_.groups.size()); }

  /// Empty where a parameter has no tensor of that kind: no gradient now, no main weight, no cast.
  std::span<float const> tensor(int parameter, TensorKind kind) const;
  bool has_gradient(int parameter) const;
  /// Steps executed so far as this parameter's counter (its group's or its own) sees them.
  std::int64_t step_count(int parameter) const;

 private:
  using Tensor = std::vector<float, ZeroedPages<float>>;
  struct State {
    Tensor value;
    Tensor gradient;
    Tensor exp_avg;
    Tensor exp_avg_sq;
    Tensor main;           // empty: the optimizer works on `value`
    Tensor cast_gradient;  // empty: it is handed `gradient`
    bool has_gradient = false;
    bool due = false;  // begin_step() was called, step_parameter() not yet
    std::int64_t steps = 0;
  };

  void cast_gradient(int parameter);
  State& state(int parameter);
  State const& state(int parameter) const;

  ModelConfig config_;
  std::vector<State> states_;
};

class Model::Saved {
 public:
  /// What was read from somewhere else. Shapes: whole tensors, as the model has them. Kinds:
  /// parameter, main, exp_avg, exp_avg_sq.
  void set(int parameter, TensorKind kind, std::span<float const> values);
  void set_steps(int parameter, std::int64_t steps);
  void set_group(int group, AdamConfig const& config);

 private:
  friend class Model;
  std::vector<State> states_;
  std::vector<AdamConfig> groups_;
};

}  // namespace adamant::oracle
