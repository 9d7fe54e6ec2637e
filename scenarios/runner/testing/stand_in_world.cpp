#include "scenarios/runner/testing/stand_in_world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oracle/formats/formats.h"

namespace adamant::scenarios {

namespace {

double correction(float beta, std::int64_t step) {
  return 1.0 - std::pow(static_cast<double>(beta), static_cast<double>(step));
}

}  // namespace

void step_as_torch(AdamConfig const& s, std::int64_t t, Element& e) {
  double const rate = s.learning_rate;
  if (s.mode == AdamMode::adam && s.weight_decay != 0.0F)
    e.gradient = std::fma(e.weight, s.weight_decay, e.gradient);
  if (s.mode == AdamMode::adamw && s.weight_decay != 0.0F)
    e.weight *= static_cast<float>(1.0 - rate * static_cast<double>(s.weight_decay));
  auto const w1 = static_cast<float>(1.0 - static_cast<double>(s.beta1));
  auto const w2 = static_cast<float>(1.0 - static_cast<double>(s.beta2));
  e.exp_avg = std::fma(w1, e.gradient - e.exp_avg, e.exp_avg);  // beta1 > 1/2 in these tests
  e.exp_avg_sq = std::fma(w2 * e.gradient, e.gradient, s.beta2 * e.exp_avg_sq);
  auto const root_c2 = static_cast<float>(std::sqrt(correction(s.beta2, t)));
  float const denominator = std::sqrt(e.exp_avg_sq) / root_c2 + s.epsilon;
  e.weight += static_cast<float>(-rate / correction(s.beta1, t)) * e.exp_avg / denominator;
}

void step_in_fp32(AdamConfig const& s, std::int64_t t, Element& e) {
  e.exp_avg = s.beta1 * e.exp_avg + (1.0F - s.beta1) * e.gradient;
  e.exp_avg_sq = s.beta2 * e.exp_avg_sq + (1.0F - s.beta2) * e.gradient * e.gradient;
  float const m_hat = e.exp_avg / static_cast<float>(correction(s.beta1, t));
  float const v_hat = e.exp_avg_sq / static_cast<float>(correction(s.beta2, t));
  float const update = m_hat / (std::sqrt(v_hat) + s.epsilon) + s.weight_decay * e.weight;
  e.weight -= s.learning_rate * update;
}

StandInWorld::StandInWorld(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                           Traits const& traits)
    : traits_(traits),
      parameters_(parameters),
      layout_(oracle::lay_out(scenario.layout, parameters, {.shards = traits.shards})),
      groups_(adam_configs(scenario)),
      tensors_(parameters.size()),
      scaler_(scenario.optimizer.loss_scale, oracle::torch_scaler),
      max_norm_(scenario.optimizer.clip),
      microbatches_(static_cast<int>(scenario.microbatch_count())) {
  scaling_.loss_scale = scaler_.scale();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto const numel = static_cast<std::size_t>(parameters[p].numel());
    tensors_[p].weight.resize(numel);
    tensors_[p].exp_avg.resize(numel);
    tensors_[p].exp_avg_sq.resize(numel);
  }
}

void StandInWorld::write(int parameter, std::span<float const> values) {
  at(parameter).weight.assign(values.begin(), values.end());
}

float StandInWorld::random() {
  drawn_ = drawn_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<float>(static_cast<std::int64_t>(drawn_ >> 40) - (1 << 23)) * 0x1p-24F;
}

NumberFormat StandInWorld::gradient_format(int parameter) const {
  return parameters_[static_cast<std::size_t>(parameter)].formats.weight();
}

void StandInWorld::backward(resolved::Backward const& operation, bool exact) {
  unscaled_ = false;
  later_ = 1;
  fed_.assign(static_cast<std::size_t>(rank_count()), {});
  bool overflows = operation.overflow;
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    auto const numel = tensors_[p].weight.size();
    auto const reduced = parameters_[p].formats.gradient;
    std::vector<float> sum(numel);
    for (auto& rank : fed_) {
      auto& fed = rank.emplace_back(numel);
      for (float& x : fed)
        x = traits_.gradients * (exact ? std::round(random() * 64) * 0.25F : random());
      oracle::round_to(reduced, fed);
      if (overflows && numel > 0) fed[0] = std::numeric_limits<float>::infinity();
      overflows = overflows && numel == 0;
      for (std::size_t i = 0; i < numel; ++i)
        sum[i] = oracle::rounded(sum[i] + oracle::rounded(fed[i] * scaling_.loss_scale, reduced),
                                 reduced);
    }
    bool const without = std::find(operation.without.begin(), operation.without.end(),
                                   static_cast<int>(p)) != operation.without.end();
    if (without) continue;
    auto& tensors = tensors_[p];
    tensors.gradient.resize(numel);
    for (std::size_t i = 0; i < numel; ++i) {
      float const mean = oracle::rounded(sum[i] / static_cast<float>(microbatches_), reduced);
      float const before = tensors.has_gradient ? tensors.gradient[i] : 0.0F;
      tensors.gradient[i] = tensors.has_gradient ? before + mean : mean;
    }
    oracle::round_to(gradient_format(static_cast<int>(p)), tensors.gradient);
    tensors.has_gradient = true;
  }
}

void StandInWorld::unscale() {
  if (unscaled_ || scaling_.loss_scale == 1.0F) return;
  unscaled_ = true;
  for (std::size_t p = 0; p < tensors_.size(); ++p)
    for (float& g : tensors_[p].gradient)
      g = oracle::rounded(g * (1.0F / scaling_.loss_scale), gradient_format(static_cast<int>(p)));
}

void StandInWorld::unscale_in_step() {
  if (unscaled_) return;
  unscaled_ = true;
  for (Tensors& tensors : tensors_)
    for (float& g : tensors.gradient) g /= scaling_.loss_scale;
}

double factor_as_torch(float max_norm, float norm) {
  return std::min(1.0F / (norm + 1e-6F) * max_norm, 1.0F);
}

void StandInWorld::clip() {
  float const inverse =
      traits_.clips_in_one_product && !unscaled_ ? 1.0F / scaling_.loss_scale : 1.0F;
  if (traits_.clips_in_one_product)
    unscaled_ = true;
  else
    unscale();
  float squares = 0;
  for (Tensors const& tensors : tensors_)
    for (float const g : tensors.gradient) squares += g * inverse * (g * inverse);
  scaling_.norm = std::sqrt(squares);
  double const coefficient = traits_.clip_factor(max_norm_.value_or(0), scaling_.norm) * inverse;
  later_ = traits_.clips_in_place ? 1.0 : coefficient;
  for (std::size_t p = 0; p < tensors_.size() && traits_.clips_in_place; ++p)
    for (float& g : tensors_[p].gradient)
      g = oracle::rounded(static_cast<float>(g * coefficient),
                          gradient_format(static_cast<int>(p)));
}

void StandInWorld::step() {
  if (!traits_.unscales_in_step) unscale();
  bool finite = true;
  bool any = false;
  for (Tensors const& tensors : tensors_) {
    any = any || tensors.has_gradient;
    for (float const g : tensors.gradient) finite = finite && std::isfinite(g);
  }
  scaling_.skipped = scaler_.looks() && !finite;
  if (any) scaler_.after_step(scaling_.skipped);
  if (traits_.unscales_in_step && !scaling_.skipped) unscale_in_step();
  for (std::size_t p = 0; p < tensors_.size() && !scaling_.skipped; ++p) {
    auto& tensors = tensors_[p];
    if (!tensors.has_gradient) continue;
    ++tensors.steps;
    auto const& formats = parameters_[p].formats;
    auto const& config = groups_[static_cast<std::size_t>(parameters_[p].group)];
    for (std::size_t i = 0; i < tensors.weight.size(); ++i) {
      Element e{static_cast<float>(tensors.gradient[i] * later_), tensors.weight[i],
                tensors.exp_avg[i], tensors.exp_avg_sq[i]};
      traits_.step(config, tensors.steps, e);
      tensors.weight[i] = oracle::rounded(e.weight, formats.weight());
      tensors.exp_avg[i] = oracle::rounded(e.exp_avg, formats.exp_avg);
      tensors.exp_avg_sq[i] = oracle::rounded(e.exp_avg_sq, formats.exp_avg_sq);
    }
  }
  scaling_.loss_scale = scaler_.scale();
  scaling_.growth_tracker = scaler_.growth_tracker();
}

void StandInWorld::zero_grad(bool set_to_none) {
  unscaled_ = false;
  later_ = 1;
  for (Tensors& tensors : tensors_) {
    std::fill(tensors.gradient.begin(), tensors.gradient.end(), 0.0F);
    if (!set_to_none) continue;
    tensors.gradient.clear();
    tensors.has_gradient = false;
  }
}

void StandInWorld::set(resolved::Set const& set) {
  for (std::size_t g = 0; g < set.group_count(); ++g)
    groups_[g] = with(groups_[g], set.of_group(g));
  if (set.change.clip) max_norm_ = *set.change.clip;
}

void StandInWorld::load(std::vector<Tensors> const& saved) {
  tensors_ = saved;
  for (std::size_t p = 0; p < tensors_.size(); ++p) {
    tensors_[p].gradient.clear();
    tensors_[p].has_gradient = false;
    oracle::round_to(parameters_[p].formats.weight(), tensors_[p].weight);
    oracle::round_to(parameters_[p].formats.exp_avg, tensors_[p].exp_avg);
    oracle::round_to(parameters_[p].formats.exp_avg_sq, tensors_[p].exp_avg_sq);
  }
}

// ---- what it shows ------------------------------------------------------------------------------

NumberFormat StandInWorld::format(int parameter, TensorKind kind) const {
  if (kind == TensorKind::gradient) return gradient_format(parameter);
  auto const& formats = parameters_[static_cast<std::size_t>(parameter)].formats;
  return oracle::stored_format(formats, kind).value_or(NumberFormat::fp32);
}

std::vector<float> StandInWorld::values(int parameter, TensorKind kind) const {
  auto const& tensors = tensors_[static_cast<std::size_t>(parameter)];
  switch (kind) {
    case TensorKind::parameter: {
      std::vector<float> cast = tensors.weight;
      for (float& x : cast) x *= cast_factor_;
      return cast;
    }
    case TensorKind::main:
      return tensors.weight;
    case TensorKind::gradient:
      return tensors.gradient;
    case TensorKind::exp_avg:
      return tensors.exp_avg;
    case TensorKind::exp_avg_sq:
      return tensors.exp_avg_sq;
    case TensorKind::cast_gradient:
      break;
  }
  return {};
}

Shard StandInWorld::stored(std::vector<float> const& values, NumberFormat format) const {
  auto& bytes = shown_.emplace_back(values.size() * bytes_of(format));
  if (format == NumberFormat::fp32) {
    auto const raw = std::as_bytes(std::span(values));
    std::copy(raw.begin(), raw.end(), bytes.begin());
  } else {
    std::vector<std::uint16_t> bits(values.size());
    oracle::encode(format, values, bits);
    auto const raw = std::as_bytes(std::span(bits));
    std::copy(raw.begin(), raw.end(), bytes.begin());
  }
  return {.format = format, .bytes = bytes};
}

Shard StandInWorld::shard(int rank, int parameter, TensorKind kind) const {
  auto const ranges = layout_.ranges(parameter, rank % traits_.shards, kind);
  auto const all = values(parameter, kind);
  std::vector<float> mine;
  for (ElementRange const range : ranges)
    if (!all.empty()) mine.insert(mine.end(), all.begin() + range.begin, all.begin() + range.end);
  if (parted_ && rank >= traits_.shards && kind == TensorKind::parameter && !mine.empty())
    mine[0] = *parted_;
  Shard result = stored(mine, format(parameter, kind));
  result.ranges = ranges;
  return result;
}

std::optional<Shard> StandInWorld::whole(int /*rank*/, int parameter, TensorKind kind) const {
  return stored(values(parameter, kind), format(parameter, kind));
}

bool StandInWorld::has_gradient(int /*rank*/, int parameter) const {
  return tensors_[static_cast<std::size_t>(parameter)].has_gradient;
}

std::int64_t StandInWorld::step_count(int /*rank*/, int parameter) const {
  return tensors_[static_cast<std::size_t>(parameter)].steps;
}

AdamConfig StandInWorld::group(int /*rank*/, int group) const {
  return groups_[static_cast<std::size_t>(group)];
}

std::optional<std::span<float const>> StandInWorld::fed(int rank, int parameter) const {
  if (fed_.empty()) return std::nullopt;
  return fed_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(parameter)];
}

}  // namespace adamant::scenarios
