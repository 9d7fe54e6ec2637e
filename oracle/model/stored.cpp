// What a model's numbers become when they are stored: rounded, divided by a scale, split, or
// quantised by a recipe.
#include <algorithm>
#include <utility>

#include "oracle/check.h"
#include "oracle/formats/formats.h"
#include "oracle/model/model.h"
#include "oracle/quantise/states.h"

namespace adamant::oracle {
namespace {

/// Each weight becomes the bf16 parameter beside its remainder.
void round_to_upper_half(std::span<float> weights) {
  for (float& weight : weights) weight = value_of(split(weight).parameter, NumberFormat::bf16);
}

/// The numbers in these ranges become what they are worth once they are stored; their new scale.
float round_with_one_scale(std::span<float> tensor, std::span<ElementRange const> ranges,
                           NumberFormat format) {
  auto const in = [&](ElementRange range) { return tensor.subspan(range.begin, range.numel()); };
  float amax = 0;
  for (ElementRange const range : ranges) amax = std::max(amax, amax_of(in(range)));
  float const scale = scale_of(amax, format);
  for (ElementRange const range : ranges) round_scaled(in(range), scale, format);
  return scale;
}

}  // namespace

Model::State Model::initial_state(ParameterSpec const& spec) {
  State s;
  auto const numel = static_cast<std::size_t>(spec.numel());
  auto const& formats = spec.formats;
  s.value.resize(numel);
  s.exp_avg.resize(numel);
  s.exp_avg_sq.resize(numel);
  if (formats.main) s.main.resize(numel);
  auto const scale = [&](TensorKind kind, NumberFormat format) {
    if (has_scale(kind, format, formats.state_scale))
      s.scales[static_cast<std::size_t>(kind)] = {1.0F};
  };
  scale(TensorKind::exp_avg, formats.exp_avg);
  scale(TensorKind::exp_avg_sq, formats.exp_avg_sq);
  if (formats.main) scale(TensorKind::main, *formats.main);
  if (formats.recipe) quantise_first(s, spec);
  return s;
}

void Model::share_scales(int parameter, Shards shards) {
  auto& s = state(parameter);
  for (auto& scales : s.scales)
    if (!scales.empty()) scales.assign(shards.size(), 1.0F);
  s.shards = std::move(shards);
}

void Model::store_first_weights(State& s, ParameterSpec const& spec) {
  if (spec.formats.recipe) return quantise_first(s, spec);
  if (!spec.formats.main) return;
  s.main = s.value;
  store(s, TensorKind::main, *spec.formats.main);
}

// What the optimizer works on holds the result in fp32.
void Model::store_weights(State& s, ParameterSpec const& spec) {
  if (spec.formats.recipe) return quantise(s, spec);
  if (spec.formats.main) s.value = s.main;
  store_parameter(s.value, spec.formats);
  if (spec.formats.main) store(s, TensorKind::main, *spec.formats.main);
}

void Model::store_parameter(Tensor& weight, Formats const& formats) {
  if (formats.main == NumberFormat::remainder)
    round_to_upper_half(weight);
  else
    round_to(formats.parameter, weight);
}

void Model::quantise_first(State& s, ParameterSpec const& spec) {
  s.delayed = {};
  quantise(s, spec);
}

void Model::quantise(State& s, ParameterSpec const& spec) {
  check(spec.formats.main == NumberFormat::fp32, "what is quantised has all of its main weight");
  Recipe const recipe = spec.formats.recipe.value();
  MatrixShape const shape = matrix_of(spec);
  DelayedScale* const delayed = recipe == Recipe::fp8_delayed ? &s.delayed : nullptr;
  s.quantised = oracle::quantise(s.main, shape, recipe, delayed);
  auto const values = read(s.quantised, shape, recipe);
  s.value.assign(values.begin(), values.end());
}

void Model::store(State& s, TensorKind kind, NumberFormat format) {
  if (format == NumberFormat::remainder) return;  // all of it is kept
  Tensor& tensor = tensor_of(s, kind);
  auto& scales = s.scales[static_cast<std::size_t>(kind)];
  if (scales.empty()) return round_to(format, tensor);
  Shards const whole = {{{.begin = 0, .end = std::ssize(tensor)}}};
  Shards const& shards = s.shards.empty() ? whole : s.shards;
  for (std::size_t i = 0; i < shards.size(); ++i)
    scales[i] = round_with_one_scale(tensor, shards[i], format);
}

}  // namespace adamant::oracle
