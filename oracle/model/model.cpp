#include "oracle/model/model.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/adam/adam_step.h"
#include "oracle/check.h"
#include "oracle/formats/formats.h"
#include "oracle/scale/exact_norm.h"

namespace adamant::oracle {
namespace {

// A mean that is added stays in a core's cache.
constexpr std::int64_t block_numel = 8192;

void add(std::span<float> sum, std::span<float const> addend) {
  Eigen::Map<Eigen::ArrayXf>(sum.data(), std::ssize(sum)) +=
      Eigen::Map<Eigen::ArrayXf const>(addend.data(), std::ssize(addend));
}

/// Calls `visit(begin, count)` for consecutive blocks of [0, numel).
template <typename Visit>
void for_each_block(std::int64_t numel, Visit visit) {
  for (std::int64_t begin = 0; begin < numel; begin += block_numel)
    visit(begin, std::min(block_numel, numel - begin));
}

Model::Reader reader_of(std::span<float const> values) {
  return [values](std::int64_t begin, std::span<float> out) {
    std::copy_n(values.begin() + begin, out.size(), out.begin());
  };
}

/// out[i] = fl32(in[i] factor)
void multiply(std::span<float const> in, float factor, std::span<float> out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] * factor;
}

}  // namespace

Model::Model(ModelConfig config)
    : config_(std::move(config)),
      states_(config_.parameters.size()),
      scaler_(config_.loss_scale, config_.scaler),
      inverse_(scaler_.inverse()) {
  for (std::size_t p = 0; p < states_.size(); ++p) {
    auto const& spec = config_.parameters[p];
    check(spec.group >= 0, "groups count from 0");
    check(spec.group < std::ssize(config_.groups), "a parameter's group exists");
    states_[p] = initial_state(spec);
  }
}

void Model::write_parameter(int parameter, std::span<float const> values) {
  check(values.size() == state(parameter).value.size(), "what is written covers its parameter");
  write_parameter(parameter, reader_of(values));
}

void Model::write_parameter(int parameter, Reader const& read) {
  auto& s = state(parameter);
  auto const& formats = spec(parameter).formats;
  Tensor& drawn = formats.recipe ? s.main : s.value;
  for_each_block(std::ssize(drawn), [&](std::int64_t begin, std::int64_t count) {
    auto const block = std::span(drawn).subspan(begin, count);
    read(begin, block);
    if (!formats.recipe) round_to(formats.parameter, block);
  });
  store_first_weights(s, spec(parameter));
}

void Model::add_gradient(int parameter, std::span<float const> mean) {
  check(mean.size() == state(parameter).value.size(), "a gradient covers its parameter");
  add_gradient(parameter, reader_of(mean));
}

void Model::add_gradient(int parameter, Reader const& read) {
  auto& s = state(parameter);
  auto const format = spec(parameter).formats.gradient;
  std::vector<float> block(s.has_gradient ? block_numel : 0);
  s.gradient.resize(s.value.size());
  for (std::int64_t begin = 0; begin < std::ssize(s.gradient); begin += block_numel) {
    auto const count = std::min(block_numel, std::ssize(s.gradient) - begin);
    auto const gradient = std::span(s.gradient).subspan(begin, count);
    auto const mean = s.has_gradient ? std::span(block).first(count) : gradient;
    read(begin, mean);
    round_to(format, mean);
    if (!s.has_gradient) continue;
    add(gradient, mean);
    round_to(format, gradient);
  }
  s.has_gradient = true;
  cast_gradient(parameter);
}

void Model::cast_gradient(int parameter) {
  auto const format = stored_format(spec(parameter).formats, TensorKind::cast_gradient);
  if (!format) return;
  auto& s = state(parameter);
  s.cast_gradient = s.gradient;
  round_to(*format, s.cast_gradient);
}

void Model::set_gradient(int parameter, std::span<float const> values) {
  auto& s = state(parameter);
  check(values.size() == s.value.size(), "a gradient covers its parameter");
  s.gradient.assign(values.begin(), values.end());
  s.has_gradient = true;
  cast_gradient(parameter);
}

void Model::set_moments(int parameter, std::span<float const> exp_avg,
                        std::span<float const> exp_avg_sq) {
  auto& s = state(parameter);
  check(exp_avg.size() == s.exp_avg.size(), "moments cover their parameter");
  check(exp_avg_sq.size() == s.exp_avg_sq.size(), "moments cover their parameter");
  s.exp_avg.assign(exp_avg.begin(), exp_avg.end());
  s.exp_avg_sq.assign(exp_avg_sq.begin(), exp_avg_sq.end());
}

void Model::zero_grad(bool set_to_none) {
  clipped_ = {};
  for (int p = 0; p < parameter_count(); ++p) {
    auto& s = state(p);
    s.gradient.assign(set_to_none ? 0 : s.value.size(), 0.0F);
    s.has_gradient = !set_to_none;
    cast_gradient(p);
  }
}

void Model::drop_gradient(int parameter) {
  auto& s = state(parameter);
  s.gradient.clear();
  s.cast_gradient.clear();
  s.has_gradient = false;
}

void Model::step() {
  begin_step();
  for (int p = 0; p < parameter_count(); ++p) step_parameter(p);
}

// What the optimizer is handed: the gradient, or the cast copy of it.
Model::Tensor const& Model::handed(State const& state) const {
  return state.cast_gradient.empty() ? state.gradient : state.cast_gradient;
}

void Model::clip() {
  check(config_.max_norm.has_value(), "there is a norm to scale to");
  SquareSum squares;
  std::vector<float> block(block_numel);
  for (auto const& s : states_) {
    std::span<float const> const gradient = handed(s);
    for_each_block(std::ssize(gradient), [&](std::int64_t begin, std::int64_t count) {
      auto const unscaled = std::span(block).first(static_cast<std::size_t>(count));
      multiply(gradient.subspan(begin, count), scaler_.inverse(), unscaled);
      squares.add(unscaled);
    });
  }
  clipped_.norm = norm_of(squares);
  clipped_.coefficient = clip_coefficient(*config_.max_norm, clipped_.norm);
}

void Model::set_loss_scale(LossScale const& loss_scale) {
  scaler_ = LossScaler(loss_scale, config_.scaler);
  skipped_ = false;
  inverse_ = scaler_.inverse();
}

void Model::use_scaler(ScalerRules const& rules) {
  config_.scaler = rules;
  set_loss_scale(scaler_.setting());
}

void Model::set_scaler(LossScaler const& scaler) {
  scaler_ = scaler;
  inverse_ = scaler_.inverse();
}

bool Model::all_finite() const {
  return std::all_of(states_.begin(), states_.end(), [&](State const& s) {
    auto const& gradient = handed(s);
    return std::all_of(gradient.begin(), gradient.end(), [](float g) { return std::isfinite(g); });
  });
}

void Model::begin_step() {
  skipped_ = scaler_.looks() && !all_finite();
  inverse_ = scaler_.inverse();
  bool const any =
      std::any_of(states_.begin(), states_.end(), [](State const& s) { return s.has_gradient; });
  if (any || config_.scaler.counts_steps_without_gradients) scaler_.after_step(skipped_);
  for (auto& s : states_) {
    check(!s.due, "the step before this one is finished");
    s.due = true;
    if (skipped_) continue;
    ++s.counts.of_group;
    if (s.has_gradient) ++s.counts.of_parameter;
  }
}

void Model::step_parameter(int parameter) {
  auto& s = state(parameter);
  check(std::exchange(s.due, false), "a parameter takes part in a step once, after begin_step()");
  if (!s.has_gradient || skipped_) return;
  auto const& formats = spec(parameter).formats;
  auto& weight = formats.main ? s.main : s.value;
  update(s, group(spec(parameter).group), weight);
  store_weights(s, spec(parameter));
  store(s, TensorKind::exp_avg, formats.exp_avg);
  store(s, TensorKind::exp_avg_sq, formats.exp_avg_sq);
}

bool Model::step_passes_over(int parameter) const {
  return !state(parameter).has_gradient || skipped_;
}

void Model::pass_over(int parameter) {
  check(std::exchange(state(parameter).due, false),
        "a parameter takes part in a step once, after begin_step()");
}

void Model::adopt_step(int parameter, Stepped const& seen) {
  auto& s = state(parameter);
  check(std::exchange(s.due, false), "a parameter takes part in a step once, after begin_step()");
  check(!step_passes_over(parameter), "the parameter is stepped");
  auto const& formats = spec(parameter).formats;
  check(!formats.recipe, "what is adopted was stored without codes");
  auto const take = [](std::span<float const> values, Tensor& tensor) {
    check(values.size() == tensor.size(), "what is adopted covers its tensor");
    std::copy(values.begin(), values.end(), tensor.begin());
  };
  take(seen.weight, formats.main ? s.main : s.value);
  take(seen.exp_avg, s.exp_avg);
  take(seen.exp_avg_sq, s.exp_avg_sq);
  check(std::ranges::all_of(s.scales, [](auto const& scales) { return scales.empty(); }),
        "what is adopted was stored without scales");
  store_weights(s, spec(parameter));
}

void Model::update(State& s, AdamConfig const& config, std::span<float> weight) const {
  std::span<float const> const gradient = handed(s);
  bool const as_it_is = inverse_ == 1.0F && clipped_.coefficient == 1.0F;
  std::int64_t const steps = steps_of(s);
  if (as_it_is) return adam_step(config, steps, gradient, weight, s.exp_avg, s.exp_avg_sq);
  std::vector<float> block(block_numel);
  for_each_block(std::ssize(gradient), [&](std::int64_t begin, std::int64_t count) {
    auto const consumed = std::span(block).first(static_cast<std::size_t>(count));
    multiply(gradient.subspan(begin, count), inverse_, consumed);
    multiply(consumed, clipped_.coefficient, consumed);
    adam_step(config, steps, consumed, weight.subspan(begin, count),
              std::span(s.exp_avg).subspan(begin, count),
              std::span(s.exp_avg_sq).subspan(begin, count));
  });
}

Scaling Model::scaling() const {
  return {.loss_scale = scaler_.scale(),
          .skipped = skipped_,
          .inverse = inverse_,
          .norm = clipped_.norm,
          .coefficient = clipped_.coefficient,
          .growth_tracker = scaler_.growth_tracker(),
          .hysteresis = scaler_.hysteresis(),
          .max_norm = config_.max_norm};
}

void Model::set_group(int group, AdamConfig const& config) {
  check(group >= 0 && group < std::ssize(config_.groups), "the group exists");
  config_.groups[static_cast<std::size_t>(group)] = config;
}

void Model::reformat(std::vector<Formats> const& formats) {
  check(formats.size() == config_.parameters.size(), "every parameter has its formats");
  for (std::size_t p = 0; p < formats.size(); ++p) {
    config_.parameters[p].formats = formats[p];
    states_[p] = initial_state(config_.parameters[p]);
  }
}

Model::Tensor& Model::tensor_of(State& s, TensorKind kind) {
  switch (kind) {
    case TensorKind::parameter:
      return s.value;
    case TensorKind::gradient:
      return s.gradient;
    case TensorKind::exp_avg:
      return s.exp_avg;
    case TensorKind::exp_avg_sq:
      return s.exp_avg_sq;
    case TensorKind::main:
      return s.main;
    case TensorKind::cast_gradient:
      break;
  }
  check(kind == TensorKind::cast_gradient, "a tensor kind");
  return s.cast_gradient;
}

int Model::parameter_count() const {
  return static_cast<int>(states_.size());
}

ParameterSpec const& Model::spec(int parameter) const {
  check(parameter >= 0 && parameter < parameter_count(), "the parameter exists");
  return config_.parameters[static_cast<std::size_t>(parameter)];
}

AdamConfig const& Model::group(int group) const {
  check(group >= 0 && group < std::ssize(config_.groups), "the group exists");
  return config_.groups[static_cast<std::size_t>(group)];
}

std::span<float const> Model::tensor(int parameter, TensorKind kind) const {
  return tensor_of(const_cast<State&>(state(parameter)), kind);
}

std::span<float const> Model::scales(int parameter, TensorKind kind) const {
  return state(parameter).scales[static_cast<std::size_t>(kind)];
}

Quantised const& Model::quantised(int parameter) const {
  check(spec(parameter).formats.recipe.has_value(), "the parameter is quantised");
  return state(parameter).quantised;
}

DelayedScale const& Model::delayed_scale(int parameter) const {
  check(spec(parameter).formats.recipe == Recipe::fp8_delayed, "a recipe with a history");
  return state(parameter).delayed;
}

bool Model::has_gradient(int parameter) const {
  return state(parameter).has_gradient;
}

std::int64_t Model::steps_of(State const& state) const {
  bool const of_group = config_.step_counter == StepCounter::group;
  return of_group ? state.counts.of_group : state.counts.of_parameter;
}

Model::State& Model::state(int parameter) {
  return const_cast<State&>(std::as_const(*this).state(parameter));
}

Model::State const& Model::state(int parameter) const {
  check(parameter >= 0 && parameter < parameter_count(), "the parameter exists");
  return states_[static_cast<std::size_t>(parameter)];
}

}  // namespace adamant::oracle
