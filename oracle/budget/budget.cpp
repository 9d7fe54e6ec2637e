#include "oracle/budget/budget.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "oracle/check.h"
#include "oracle/formats/formats.h"
#include "oracle/quantise/recipes.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t whole_alignment_bytes = 16;
constexpr std::int64_t mxfp8_block_numel = 32;
constexpr std::int64_t step_entry_bytes = 48;
constexpr std::int64_t piece_bytes = 56;
constexpr std::int64_t group_settings_bytes = 32;
constexpr std::int64_t group_state_bytes = 40;
constexpr std::int64_t parameter_state_bytes = 16;
constexpr std::int64_t piece_numel_max = 65536;

std::size_t index_of(Purpose purpose) {
  return static_cast<std::size_t>(purpose);
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::int64_t bytes(std::int64_t numel, NumberFormat format) {
  return numel * static_cast<std::int64_t>(bytes_of(format));
}

std::int64_t whole_bytes(ParameterSpec const& parameter, int world_size, NumberFormat format) {
  auto const numel = world_size * chunk_numel(parameter, world_size);
  return round_up(bytes(numel, format), whole_alignment_bytes);
}

/// So many elements of a parameter as it is stored and gathered, with the scales that travel.
std::int64_t parameter_bytes(Formats const& formats, std::int64_t numel) {
  auto const aligned = [](std::int64_t size) { return round_up(size, whole_alignment_bytes); };
  if (!formats.recipe) return aligned(bytes(numel, formats.parameter));
  if (formats.recipe == Recipe::nvfp4) return aligned(numel / 2);
  if (formats.recipe == Recipe::mxfp8) return aligned(numel) + aligned(numel / mxfp8_block_numel);
  return aligned(numel);
}

/// What lies in memory: of a main weight that counts as fp32 perhaps only the remainder.
std::optional<NumberFormat> kept_format(Formats const& formats, TensorKind kind) {
  return kind == TensorKind::main ? formats.main : stored_format(formats, kind);
}

/// What a parameter's shard of one kind takes; 0 where it has none.
std::int64_t shard_bytes(ParameterSpec const& parameter, int world_size, TensorKind kind) {
  auto const format = kept_format(parameter.formats, kind);
  return format ? padded_bytes(parameter, world_size, *format) : 0;
}

std::int64_t pieces_of(std::int64_t numel) {
  return (numel + piece_numel_max - 1) / piece_numel_max;
}

Purpose state_purpose(TensorKind kind) {
  if (kind == TensorKind::main) return Purpose::main;
  return kind == TensorKind::exp_avg ? Purpose::exp_avg : Purpose::exp_avg_sq;
}

// Of each parameter's main weight and two moments: the scale of now, the next one, the largest
// magnitude here and that of all ranks.
constexpr std::int64_t scales_bytes = 3 * 4 * 4;
// On the host: this rank's magnitudes on their way up, both scales on their way down.
constexpr std::int64_t hybrid_scales_bytes = 3 * 3 * 4;

bool has_scales(Formats const& formats) {
  for (auto const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq, TensorKind::main}) {
    auto const format = kept_format(formats, kind);
    if (format && has_scale(kind, *format)) return true;
  }
  return false;
}

constexpr std::int64_t fp32_bytes = 4;
constexpr std::int64_t delayed_bytes = (1 + 16) * fp32_bytes;  // the next scale and the amaxes

/// What a quantised parameter has beside its codes, on every rank.
struct ScaleCounts {
  std::int64_t maxima = 0;  // magnitudes that lead to scales
  std::int64_t fp32 = 0;
  std::int64_t codes = 0;
  std::int64_t delayed = 0;  // bytes
};

ScaleCounts scale_counts(ParameterSpec const& parameter) {
  Recipe const recipe = parameter.formats.recipe.value();
  std::int64_t const blocks = scales_of(recipe, matrix_of(parameter)).numel();
  switch (recipe) {
    case Recipe::fp8_delayed:
      return {.maxima = 1, .fp32 = 1, .delayed = delayed_bytes};
    case Recipe::fp8_current:
      return {.maxima = 1, .fp32 = 1};
    case Recipe::fp8_block:
      return {.maxima = blocks, .fp32 = blocks};
    case Recipe::mxfp8:  // they are beside the codes of their rank
      return {};
    case Recipe::nvfp4:
      break;
  }
  return {.maxima = blocks + 1, .fp32 = 1, .codes = blocks};
}

constexpr Purpose state_purposes[] = {Purpose::exp_avg, Purpose::exp_avg_sq, Purpose::main};

/// Of a weight that the CPU sends up: what is quantised has to be there in fp32 first.
std::int64_t weight_bytes(Formats const& formats) {
  return formats.recipe ? fp32_bytes : static_cast<std::int64_t>(bytes_of(formats.parameter));
}

constexpr std::int64_t host_alignment_bytes = 64;
constexpr std::int64_t staggered_from_bytes = 1 << 20;
constexpr std::int64_t stagger_bytes = 4160;

/// Elements of each parameter that the CPU steps.
std::vector<std::int64_t> on_cpu(std::span<ParameterSpec const> parameters, RankInWorld place,
                                 double fraction) {
  std::int64_t total = 0;
  for (auto const& parameter : parameters) total += shard_numel(parameter, place);
  auto const wanted = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(total)));
  std::int64_t const first = std::max<std::int64_t>(total - wanted, 0);
  std::vector<std::int64_t> numels;
  std::int64_t begin = 0;
  for (auto const& parameter : parameters) {
    std::int64_t const end = begin + shard_numel(parameter, place);
    numels.push_back(std::max<std::int64_t>(end - std::max(begin, first), 0));
    begin = end;
  }
  return numels;
}

constexpr std::int64_t scaling_state_bytes = 64;
constexpr std::int64_t scaling_block_bytes = 2 * (22 * 8 + 4);  // this rank's and everybody's
constexpr std::int64_t scaling_block_numel = 65536;
constexpr std::int64_t scaling_blocks_max = 512;

std::int64_t scaling_bytes(std::int64_t shards_numel) {
  auto const blocks = (shards_numel + scaling_block_numel - 1) / scaling_block_numel;
  return scaling_state_bytes +
         scaling_block_bytes * std::clamp<std::int64_t>(blocks, 1, scaling_blocks_max);
}

/// The largest sum of each unit's bytes with those of the unit before it.
std::int64_t largest_pair(std::vector<std::int64_t> const& units) {
  std::int64_t largest = 0;
  for (std::size_t u = 0; u < units.size(); ++u)
    largest = std::max(largest, units[u] + (u > 0 ? units[u - 1] : 0));
  return largest;
}

std::int64_t largest_one(std::vector<std::int64_t> const& units) {
  return units.empty() ? 0 : *std::max_element(units.begin(), units.end());
}

}  // namespace

Budget::Budget(std::span<ParameterSpec const> parameters, RankInWorld place, Offload const& offload,
               Residence residence)
    : residence_(residence) {
  check(!offload.states || !offload.hybrid, "at most one offload");
  std::int64_t pieces = 0;
  std::int64_t numel = 0;  // of shards, with what only other ranks own
  for (auto const& parameter : parameters) {
    add_shards(parameter, place.world_size);
    pieces += pieces_of(shard_numel(parameter, place));
    numel += chunk_numel(parameter, place.world_size);
  }
  scaling_bytes_ = scaling_bytes(numel);
  set_step_table();
  if (residence.capturable) keep_unit_buffers();
  device_[index_of(Purpose::work_list)] = pieces * piece_bytes;
  set_state_scales(parameters, offload.hybrid.has_value());
  set_parameter_scales(parameters);
  if (offload.states) set_state_offload(*offload.states);
  if (offload.hybrid) set_hybrid(parameters, place, *offload.hybrid);
  set_gradients(false);
  for (std::size_t i = 0; i < peak_.size(); ++i) peak_[i] = device_[i] + pinned_[i];
}

void Budget::add_shards(ParameterSpec const& parameter, int world_size) {
  auto const shard = [&](TensorKind kind) { return shard_bytes(parameter, world_size, kind); };
  auto const& formats = parameter.formats;
  std::int64_t const chunk = chunk_numel(parameter, world_size);
  sizes_.push_back({.unit = parameter.unit,
                    .gradient_shard = shard(TensorKind::gradient),
                    .whole_parameter = parameter_bytes(formats, world_size * chunk),
                    .whole_gradient = whole_bytes(parameter, world_size, formats.gradient)});
  unit_count_ = std::max(unit_count_, parameter.unit + 1);
  device_[index_of(Purpose::parameters)] += parameter_bytes(formats, chunk);
  device_[index_of(Purpose::exp_avg)] += shard(TensorKind::exp_avg);
  device_[index_of(Purpose::exp_avg_sq)] += shard(TensorKind::exp_avg_sq);
  device_[index_of(Purpose::main)] += shard(TensorKind::main);
  gradients_ += shard(TensorKind::gradient);
  cast_gradients_ += shard(TensorKind::cast_gradient);
}

void Budget::set_step_table() {
  auto const table = std::ssize(sizes_) * step_entry_bytes;
  device_[index_of(Purpose::step_table)] = table;
  pinned_[index_of(Purpose::step_table)] = table;
  if (!residence_.capturable) return;
  device_[index_of(Purpose::step_table)] +=
      residence_.group_count * group_state_bytes + std::ssize(sizes_) * parameter_state_bytes;
  pinned_[index_of(Purpose::step_table)] = residence_.group_count * group_settings_bytes;
}

void Budget::set_state_scales(std::span<ParameterSpec const> parameters, bool hybrid) {
  bool const scaled = std::ranges::any_of(
      parameters, [](ParameterSpec const& parameter) { return has_scales(parameter.formats); });
  if (!scaled) return;
  device_[index_of(Purpose::state_scales)] = std::ssize(sizes_) * scales_bytes;
  if (hybrid) pinned_[index_of(Purpose::state_scales)] = std::ssize(sizes_) * hybrid_scales_bytes;
}

// The magnitudes of all parameters lie side by side, this rank's and those of all ranks.
void Budget::set_parameter_scales(std::span<ParameterSpec const> parameters) {
  auto const aligned = [](std::int64_t size) { return round_up(size, whole_alignment_bytes); };
  std::int64_t maxima = 0;
  auto& total = device_[index_of(Purpose::parameter_scales)];
  for (auto const& parameter : parameters) {
    if (!parameter.formats.recipe) continue;
    ScaleCounts const counts = scale_counts(parameter);
    maxima += counts.maxima;
    total += aligned(counts.fp32 * fp32_bytes) + aligned(counts.codes) + aligned(counts.delayed);
  }
  total += 2 * aligned(maxima * fp32_bytes);
}

void Budget::set_state_offload(StateOffloadConfig const& config) {
  leaves_after_step_ = true;
  set_leaving(config);
  away_ = true;
  for (auto const purpose : leaving_)
    pinned_[index_of(purpose)] = std::exchange(device_[index_of(purpose)], 0);
}

void Budget::set_leaving(StateOffloadConfig const& config) {
  if (config.moments) leaving_ = {Purpose::exp_avg, Purpose::exp_avg_sq};
  if (config.main) leaving_.push_back(Purpose::main);
}

void Budget::set_hybrid(std::span<ParameterSpec const> parameters, RankInWorld place,
                        HybridConfig const& config) {
  auto const numels = on_cpu(parameters, place, config.fraction);
  std::int64_t pieces = 0;
  std::int64_t gradients = 0;
  std::int64_t weights = 0;
  std::map<Purpose, std::int64_t> states;
  bool reached = false;  // the first element that the CPU steps
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto const& formats = parameters[p].formats;
    auto const on_device = shard_numel(parameters[p], place) - numels[p];
    auto const handed =
        stored_format(formats, TensorKind::cast_gradient).value_or(formats.gradient);
    pieces += pieces_of(on_device);
    gradients += round_up(bytes(numels[p], handed), host_alignment_bytes);
    weights += round_up(numels[p] * weight_bytes(formats), host_alignment_bytes);
    if (formats.recipe && numels[p] > 0)
      device_[index_of(Purpose::parameter_scales)] +=
          round_up(shard_numel(parameters[p], place) * fp32_bytes, whole_alignment_bytes);
    if (reached) continue;
    reached = numels[p] > 0;
    for (auto const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq, TensorKind::main}) {
      auto const format = kept_format(formats, kind);
      if (!format) continue;
      states[state_purpose(kind)] += reached ? round_up(bytes(on_device, *format), 16)
                                             : shard_bytes(parameters[p], place.world_size, kind);
    }
  }
  for (auto const purpose : state_purposes) device_[index_of(purpose)] = states[purpose];
  device_[index_of(Purpose::work_list)] = pieces * piece_bytes;
  if (weights >= staggered_from_bytes) weights += stagger_bytes;
  if (config.pin_gradients) pinned_[index_of(Purpose::gradients)] = gradients;
  if (config.pin_parameters) pinned_[index_of(Purpose::parameters)] = weights;
}

void Budget::offload() {
  if (away_) return;
  away_ = true;
  if (leaving_.empty()) set_leaving({});
  for (auto const purpose : leaving_) {
    auto& device = device_[index_of(purpose)];
    if (pinned_[index_of(purpose)] == 0) pinned_[index_of(purpose)] = device;
    raise_peak(purpose, device + pinned_[index_of(purpose)]);
    device = 0;
  }
}

void Budget::reload() {
  if (!away_) return;
  away_ = false;
  for (auto const purpose : leaving_) {
    device_[index_of(purpose)] = pinned_[index_of(purpose)];
    raise_peak(purpose, device_[index_of(purpose)] + pinned_[index_of(purpose)]);
  }
}

void Budget::step() {
  reload();
  if (leaves_after_step_) offload();
}

void Budget::keep_unit_buffers() {
  auto const units = static_cast<std::size_t>(unit_count_);
  std::vector<std::int64_t> gathered(units), unreduced(units), reduced(units);
  for (Size const& size : sizes_) {
    auto const unit = static_cast<std::size_t>(size.unit);
    gathered[unit] += size.whole_parameter;
    unreduced[unit] += size.whole_gradient;
    reduced[unit] += size.gradient_shard;
  }
  std::vector<std::int64_t> even, odd;
  for (std::size_t unit = 0; unit < units; ++unit)
    (unit % 2 == 0 ? even : odd).push_back(gathered[unit]);
  device_[index_of(Purpose::unsharded_parameters)] = largest_one(even) + largest_one(odd);
  device_[index_of(Purpose::unsharded_gradients)] = largest_one(unreduced);
  device_[index_of(Purpose::reduction)] = largest_one(reduced);
}

void Budget::backward(std::span<int const> without) {
  std::vector<char> takes_part(sizes_.size(), 1);
  for (int const parameter : without) {
    check(parameter >= 0 && parameter < std::ssize(sizes_), "the parameter exists");
    takes_part[static_cast<std::size_t>(parameter)] = 0;
  }
  if (residence_.capturable) {
    if (std::find(takes_part.begin(), takes_part.end(), 1) != takes_part.end()) set_gradients(true);
    return;
  }
  auto const units = static_cast<std::size_t>(unit_count_);
  std::vector<std::int64_t> gathered(units), unreduced(units), reduced(units);
  for (std::size_t p = 0; p < sizes_.size(); ++p) {
    auto const unit = static_cast<std::size_t>(sizes_[p].unit);
    gathered[unit] += sizes_[p].whole_parameter;
    if (takes_part[p] == 0) continue;
    unreduced[unit] += sizes_[p].whole_gradient;
    reduced[unit] += sizes_[p].gradient_shard;
  }
  raise_peak(Purpose::unsharded_parameters, largest_pair(gathered));
  raise_peak(Purpose::unsharded_gradients, largest_one(unreduced));
  raise_peak(Purpose::reduction, largest_one(reduced));
  if (std::find(takes_part.begin(), takes_part.end(), 1) != takes_part.end()) set_gradients(true);
}

void Budget::zero_grad(bool set_to_none) {
  set_gradients(!set_to_none);
}

void Budget::use_scaling() {
  device_[index_of(Purpose::scaling)] = scaling_bytes_;
  pinned_[index_of(Purpose::scaling)] = scaling_state_bytes;
  raise_peak(Purpose::scaling, scaling_bytes_ + scaling_state_bytes);
}

std::int64_t Budget::device_bytes(Purpose purpose) const {
  return device_[index_of(purpose)];
}

std::int64_t Budget::pinned_bytes(Purpose purpose) const {
  return pinned_[index_of(purpose)];
}

std::int64_t Budget::peak_bytes(Purpose purpose) const {
  return peak_[index_of(purpose)];
}

void Budget::raise_peak(Purpose purpose, std::int64_t bytes) {
  auto& peak = peak_[index_of(purpose)];
  peak = std::max(peak, bytes);
}

void Budget::set_gradients(bool alive) {
  device_[index_of(Purpose::gradients)] = alive || residence_.capturable ? gradients_ : 0;
  device_[index_of(Purpose::cast_gradients)] =
      alive || residence_.keep_cast_grad ? cast_gradients_ : 0;
  for (auto const purpose : {Purpose::gradients, Purpose::cast_gradients})
    raise_peak(purpose, device_bytes(purpose) + pinned_bytes(purpose));
}

}  // namespace adamant::oracle
