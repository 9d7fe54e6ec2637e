// What a checkpoint keeps of a model, and what a model of other formats or shards makes of it.
#include <algorithm>
#include <utility>

#include "oracle/check.h"
#include "oracle/compare/first_difference.h"
#include "oracle/formats/formats.h"
#include "oracle/model/model.h"

namespace adamant::oracle {
namespace {

using Shards = Model::Shards;

/// What share a scale, whether or not shards were told apart.
Shards sharing(Shards const& shards, std::size_t numel) {
  if (!shards.empty()) return shards;
  return {{{.begin = 0, .end = static_cast<std::int64_t>(numel)}}};
}

/// The scale of each own shard, out of those that were saved: nothing where the elements of one
/// did not share one, and no others with them.
std::optional<std::vector<float>> scales_for(Shards const& own, Shards const& saved,
                                             std::vector<float> const& scales) {
  std::vector<float> found;
  for (auto const& shard : own) {
    auto const same = std::find(saved.begin(), saved.end(), shard);
    bool const alone = numel_of(shard) == 0 || scales.empty();
    if (!alone && same == saved.end()) return std::nullopt;
    found.push_back(alone ? 1.0F : scales[static_cast<std::size_t>(same - saved.begin())]);
  }
  return found;
}

/// A remainder completes its parameter to what checkpoints have as fp32.
std::optional<NumberFormat> in_files(std::optional<NumberFormat> main) {
  return main == NumberFormat::remainder ? NumberFormat::fp32 : main;
}

/// Of a quantised parameter the recipe alone is one.
std::pair<std::optional<Recipe>, NumberFormat> type_of_parameter(Formats const& formats) {
  return {formats.recipe, formats.recipe ? NumberFormat::fp32 : formats.parameter};
}

bool contains(Model::Kinds const& kinds, int parameter, TensorKind kind) {
  if (kinds.empty()) return false;
  auto const& of_parameter = kinds[static_cast<std::size_t>(parameter)];
  return std::find(of_parameter.begin(), of_parameter.end(), kind) != of_parameter.end();
}

}  // namespace

Model::Saved Model::save() const {
  Saved saved;
  for (auto const& s : states_) {
    auto& kept = saved.states_.emplace_back(s);
    kept.gradient = {};
    kept.cast_gradient = {};
    kept.has_gradient = false;
  }
  saved.stored_.resize(states_.size());
  saved.in_other_form_.resize(states_.size());
  for (auto const& spec : config_.parameters) saved.formats_.push_back(spec.formats);
  saved.groups_ = config_.groups;
  saved.scaler_ = scaler_;
  saved.max_norm_ = config_.max_norm;
  return saved;
}

void Model::Saved::set(int parameter, TensorKind kind, NumberFormat format,
                       std::span<float const> values) {
  auto const p = static_cast<std::size_t>(parameter);
  State& s = states_.at(p);
  check(values.size() == s.value.size(), "a saved tensor is a whole one");
  tensor_of(s, kind).assign(values.begin(), values.end());
  s.scales[static_cast<std::size_t>(kind)].clear();
  stored_.at(p)[static_cast<std::size_t>(kind)].clear();
  Formats& formats = formats_.at(p);
  if (kind == TensorKind::parameter) {
    formats.parameter = format;
    formats.recipe.reset();
  }
  if (kind == TensorKind::main) formats.main = format;
  if (kind == TensorKind::exp_avg) formats.exp_avg = format;
  if (kind == TensorKind::exp_avg_sq) formats.exp_avg_sq = format;
}

void Model::Saved::set_stored(int parameter, TensorKind kind, std::span<float const> worth) {
  auto const p = static_cast<std::size_t>(parameter);
  check(worth.size() == states_.at(p).value.size(), "a saved tensor is a whole one");
  stored_.at(p)[static_cast<std::size_t>(kind)].assign(worth.begin(), worth.end());
}

/// What a tensor is that stays as it was stored.
Model::Tensor const& Model::Saved::kept(int parameter, TensorKind kind) const {
  auto const p = static_cast<std::size_t>(parameter);
  Tensor const& stored = stored_[p][static_cast<std::size_t>(kind)];
  return stored.empty() ? tensor_of(const_cast<State&>(states_[p]), kind) : stored;
}

void Model::Saved::set_scales(int parameter, TensorKind kind, Shards const& shards,
                              std::vector<float> scales) {
  check(scales.size() == (shards.empty() ? 1 : shards.size()), "every shard has its scale");
  State& s = states_.at(static_cast<std::size_t>(parameter));
  s.shards = shards;
  s.scales[static_cast<std::size_t>(kind)] = std::move(scales);
}

void Model::Saved::set_quantised(int parameter, Recipe recipe, MatrixShape shape,
                                 Quantised quantised, DelayedScale const& delayed) {
  auto const p = static_cast<std::size_t>(parameter);
  State& s = states_.at(p);
  check(quantised.codes.size() == s.value.size(), "a saved tensor is a whole one");
  set_stored(parameter, TensorKind::parameter, read(quantised, shape, recipe));
  s.quantised = std::move(quantised);
  s.delayed = delayed;
  formats_.at(p).recipe = recipe;
}

void Model::Saved::set_in_other_form(int parameter) {
  in_other_form_.at(static_cast<std::size_t>(parameter)) = 1;
}

void Model::Saved::drop_main(int parameter) {
  auto const p = static_cast<std::size_t>(parameter);
  states_.at(p).main.clear();
  formats_.at(p).main.reset();
}

void Model::Saved::set_counts(int parameter, Counts const& counts) {
  states_.at(static_cast<std::size_t>(parameter)).counts = counts;
}

void Model::Saved::set_group(int group, AdamConfig const& config) {
  groups_.at(static_cast<std::size_t>(group)) = config;
}

void Model::Saved::set_scaling(LossScaler const& scaler, std::optional<float> max_norm) {
  scaler_ = scaler;
  max_norm_ = max_norm;
}

Model::State Model::loaded(Saved const& saved, int parameter) const {
  auto const p = static_cast<std::size_t>(parameter);
  State const& before = saved.states_[p];
  Formats const& then = saved.formats_[p];
  Formats const& now = spec(parameter).formats;
  State s;
  s.counts = before.counts;
  s.shards = state(parameter).shards;
  s.scales = state(parameter).scales;
  auto const make = [&](TensorKind kind, Tensor const& from, std::optional<NumberFormat> was,
                        NumberFormat format) {
    auto const k = static_cast<std::size_t>(kind);
    auto const scales = scales_for(sharing(s.shards, from.size()),
                                   sharing(before.shards, from.size()), before.scales[k]);
    bool const fits = scales && saved.in_other_form_[p] == 0;
    bool const scaled = has_scale(kind, format, now.state_scale);
    bool const was_scaled = was && has_scale(kind, *was, then.state_scale);
    bool const anew = was != format || scaled != was_scaled || (scaled && !fits);
    tensor_of(s, kind) = anew ? from : saved.kept(parameter, kind);
    if (anew) return store(s, kind, format);
    if (scaled) s.scales[k] = *scales;
  };
  make(TensorKind::exp_avg, before.exp_avg, then.exp_avg, now.exp_avg);
  make(TensorKind::exp_avg_sq, before.exp_avg_sq, then.exp_avg_sq, now.exp_avg_sq);
  if (now.main)
    make(TensorKind::main, then.main ? before.main : before.value, in_files(then.main), *now.main);
  load_parameter(s, saved, parameter);
  return s;
}

// The main weight is there already, if there is one.
void Model::load_parameter(State& s, Saved const& saved, int parameter) const {
  auto const p = static_cast<std::size_t>(parameter);
  State const& before = saved.states_[p];
  Formats const& then = saved.formats_[p];
  Formats const& now = spec(parameter).formats;
  bool const stays = type_of_parameter(then) == type_of_parameter(now) &&
                     now.main != NumberFormat::remainder &&
                     !(now.recipe && saved.in_other_form_[p] != 0) &&
                     (now.main.has_value() || !then.main.has_value());
  if (stays) {
    s.value = saved.kept(parameter, TensorKind::parameter);
    s.quantised = before.quantised;
    s.delayed = before.delayed;
    return;
  }
  if (now.recipe) return quantise_first(s, spec(parameter));
  s.value = then.main ? before.main : before.value;
  store_parameter(s.value, now);
}

void Model::load(Saved const& saved) {
  check(saved.states_.size() == states_.size(), "what is loaded was saved by such a model");
  check(saved.groups_.size() == config_.groups.size(), "what is loaded was saved by such a model");
  for (int p = 0; p < parameter_count(); ++p) state(p) = loaded(saved, p);
  config_.groups = saved.groups_;
  config_.max_norm = saved.max_norm_;
  scaler_ = saved.scaler_;
  skipped_ = false;
  inverse_ = scaler_.inverse();
  clipped_ = {};
}

std::optional<Model::Place> Model::rounded_by(Saved const& saved, Kinds const& may_round) const {
  for (int p = 0; p < parameter_count(); ++p) {
    State const& before = saved.states_[static_cast<std::size_t>(p)];
    Formats const& then = saved.formats_[static_cast<std::size_t>(p)];
    Formats const& now = spec(p).formats;
    if (then == now) continue;
    Tensor const& weight = then.main ? before.main : before.value;
    State const after = loaded(saved, p);
    auto const rounds = [&](bool differs, TensorKind named, Tensor const& from, Tensor const& to) {
      return differs && !contains(may_round, p, named) && first_difference(from, to).has_value();
    };
    bool const goes = then.main.has_value() && !now.main.has_value();
    bool const parameter_differs = type_of_parameter(then) != type_of_parameter(now);
    bool const main_differs = now.main.has_value() && in_files(then.main) != now.main;
    if (rounds(parameter_differs, TensorKind::parameter, weight, after.value) ||
        rounds(goes, TensorKind::main, weight, after.value))
      return Place{.parameter = p, .kind = TensorKind::parameter};
    if (rounds(main_differs, TensorKind::main, weight, after.main))
      return Place{.parameter = p, .kind = TensorKind::main};
    if (rounds(then.exp_avg != now.exp_avg, TensorKind::exp_avg, before.exp_avg, after.exp_avg))
      return Place{.parameter = p, .kind = TensorKind::exp_avg};
    if (rounds(then.exp_avg_sq != now.exp_avg_sq, TensorKind::exp_avg_sq, before.exp_avg_sq,
               after.exp_avg_sq))
      return Place{.parameter = p, .kind = TensorKind::exp_avg_sq};
  }
  return std::nullopt;
}

}  // namespace adamant::oracle
