#include "oracle/model/model.h"

#include <Eigen/Core>
#include <algorithm>
#include <utility>

#include "oracle/adam/adam_step.h"
#include "oracle/check.h"

namespace adamant::oracle {
namespace {

// A mean that is added stays in a core's cache.
constexpr std::int64_t block_numel = 8192;

void add(std::span<float> sum, std::span<float const> addend) {
  Eigen::Map<Eigen::ArrayXf>(sum.data(), std::ssize(sum)) +=
      Eigen::Map<Eigen::ArrayXf const>(addend.data(), std::ssize(addend));
}

}  // namespace

Model::Model(ModelConfig config) : config_(std::move(config)), states_(config_.parameters.size()) {
  for (std::size_t p = 0; p < states_.size(); ++p) {
    auto const& spec = config_.parameters[p];
    check(spec.group >= 0, "groups count from 0");
    check(spec.group < std::ssize(config_.groups), "a parameter's group exists");
    auto const numel = static_cast<std::size_t>(spec.numel());
    states_[p].value.resize(numel);
    states_[p].exp_avg.resize(numel);
    states_[p].exp_avg_sq.resize(numel);
  }
}

void Model::write_parameter(int parameter, std::int64_t begin, std::span<float const> values) {
  auto& value = state(parameter).value;
  check(begin >= 0 && begin + std::ssize(values) <= std::ssize(value),
        "what is written lies in the parameter");
  std::copy(values.begin(), values.end(), value.begin() + begin);
}

void Model::add_gradient(int parameter, std::span<float const> mean) {
  check(mean.size() == state(parameter).value.size(), "a gradient covers its parameter");
  add_gradient(parameter, [&](std::int64_t begin, std::span<float> out) {
    std::copy_n(mean.begin() + begin, out.size(), out.begin());
  });
}

void Model::add_gradient(int parameter, MeanReader const& read) {
  auto& s = state(parameter);
  std::vector<float> block(s.has_gradient ? block_numel : 0);
  s.gradient.resize(s.value.size());
  for (std::int64_t begin = 0; begin < std::ssize(s.gradient); begin += block_numel) {
    auto const count = std::min(block_numel, std::ssize(s.gradient) - begin);
    auto const gradient = std::span(s.gradient).subspan(begin, count);
    if (!s.has_gradient) {
      read(begin, gradient);
      continue;
    }
    auto const mean = std::span(block).first(count);
    read(begin, mean);
    add(gradient, mean);
  }
  s.has_gradient = true;
}

void Model::set_gradient(int parameter, std::span<float const> values) {
  auto& s = state(parameter);
  check(values.size() == s.value.size(), "a gradient covers its parameter");
  s.gradient.assign(values.begin(), values.end());
  s.has_gradient = true;
}

void Model::zero_grad(bool set_to_none) {
  for (auto& s : states_) {
    s.gradient.assign(set_to_none ? 0 : s.value.size(), 0.0F);
    s.has_gradient = !set_to_none;
  }
}

void Model::step() {
  begin_step();
  for (int p = 0; p < parameter_count(); ++p) step_parameter(p);
}

void Model::begin_step() {
  for (auto& s : states_) {
    check(!s.due, "the step before this one is finished");
    s.due = true;
    if (config_.step_counter == StepCounter::group || s.has_gradient) ++s.steps;
  }
}

void Model::step_parameter(int parameter) {
  auto& s = state(parameter);
  check(std::exchange(s.due, false), "a parameter takes part in a step once, after begin_step()");
  if (!s.has_gradient) return;
  adam_step(group(spec(parameter).group), s.steps, s.gradient, s.value, s.exp_avg, s.exp_avg_sq);
}

void Model::set_group(int group, AdamConfig const& config) {
  check(group >= 0 && group < std::ssize(config_.groups), "the group exists");
  config_.groups[static_cast<std::size_t>(group)] = config;
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
  auto const& s = state(parameter);
  switch (kind) {
    case TensorKind::parameter:
      return s.value;
    case TensorKind::gradient:
      return s.gradient;
    case TensorKind::exp_avg:
      return s.exp_avg;
    case TensorKind::exp_avg_sq:
      return s.exp_avg_sq;
  }
  check(false, "a tensor kind");
  return {};
}

bool Model::has_gradient(int parameter) const {
  return state(parameter).has_gradient;
}

std::int64_t Model::step_count(int parameter) const {
  return state(parameter).steps;
}

Model::State& Model::state(int parameter) {
  return const_cast<State&>(std::as_const(*this).state(parameter));
}

Model::State const& Model::state(int parameter) const {
  check(parameter >= 0 && parameter < parameter_count(), "the parameter exists");
  return states_[static_cast<std::size_t>(parameter)];
}

}  // namespace adamant::oracle
