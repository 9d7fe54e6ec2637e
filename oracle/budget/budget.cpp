#include "oracle/budget/budget.h"

#include <algorithm>
#include <utility>

#include "oracle/budget/on_cpu.h"
#include "oracle/check.h"
#include "oracle/quantise/recipes.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t step_entry_bytes = 48;
constexpr std::int64_t piece_bytes = 56;
constexpr std::int64_t group_settings_bytes = 32;
constexpr std::int64_t group_state_bytes = 40;
constexpr std::int64_t parameter_state_bytes = 16;

std::size_t index_of(Purpose purpose) {
  return static_cast<std::size_t>(purpose);
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
  for (TensorKind const kind : state_kinds) {
    auto const format = kept_format(formats, kind);
    if (format && has_scale(kind, *format, formats.state_scale)) return true;
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

ScaleCounts scale_counts(ParameterSpec const& parameter, bool scales_beside) {
  Recipe const recipe = parameter.formats.recipe.value();
  std::int64_t const blocks = scales_of(recipe, matrix_of(parameter)).numel();
  switch (recipe) {
    case Recipe::fp8_delayed:
      return {.maxima = 1, .fp32 = 1, .delayed = delayed_bytes};
    case Recipe::fp8_current:
      return {.maxima = 1, .fp32 = 1};
    case Recipe::fp8_block:
      return {.maxima = blocks, .fp32 = blocks};
    case Recipe::mxfp8:
      if (scales_beside) return {};  // each rank has those of its own codes
      return {.maxima = blocks, .codes = blocks};
    case Recipe::nvfp4:
      break;
  }
  return {.maxima = blocks + 1, .fp32 = 1, .codes = blocks};
}

constexpr std::int64_t scaling_state_bytes = 64;
constexpr std::int64_t scaling_block_bytes = 2 * (22 * 8 + 4);  // this rank's and everybody's
constexpr std::int64_t scaling_block_numel = 65536;
constexpr std::int64_t scaling_blocks_max = 512;

std::int64_t scaling_bytes(std::int64_t states_numel) {
  auto const blocks = (states_numel + scaling_block_numel - 1) / scaling_block_numel;
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

Budget::Budget(LayoutKind kind, std::span<ParameterSpec const> parameters, Mesh const& mesh,
               int rank, Offload const& offload, Residence residence)
    : residence_(residence),
      parameter_count_(std::ssize(parameters)),
      // Parts of other layouts, and of states that are cut again, begin and end inside of blocks.
      scales_beside_(kind == LayoutKind::fsdp2 && !mesh.cuts_states_across()) {
  check(!offload.states || !offload.hybrid, "at most one offload");
  std::int64_t pieces = 0;
  auto const holdings = holdings_of(kind, parameters, mesh, rank);
  for (Holding const& holding : holdings) {
    add(holding);
    for (Share const share : holding.shares) pieces += pieces_of(share.numel);
  }
  std::int64_t numel = 0;  // of the first rank's states, of which no other has more
  for (Holding const& first : holdings_of(kind, parameters, mesh, 0)) numel += first.states;
  scaling_bytes_ = scaling_bytes(numel);
  set_step_table();
  if (residence.capturable) keep_unit_buffers();
  device_[index_of(Purpose::work_list)] = pieces * piece_bytes;
  set_state_scales(parameters, offload.hybrid.has_value());
  set_parameter_scales(parameters);
  if (offload.states) set_state_offload(*offload.states);
  if (offload.hybrid) set_hybrid(holdings, *offload.hybrid);
  set_gradients(false);
  for (std::size_t i = 0; i < peak_.size(); ++i) peak_[i] = device_[i] + pinned_[i];
}

void Budget::add(Holding const& holding) {
  NumberFormat const gradient = holding.formats.front().gradient;
  auto const of_gradients = [&](std::int64_t numel) { return aligned(bytes_for(numel, gradient)); };
  Size size{.unit = holding.unit,
            .reduction = of_gradients(holding.parameters) + of_gradients(holding.reduced),
            .whole_parameters = holding.parameter_bytes(holding.whole, scales_beside_),
            .whole_gradients = of_gradients(holding.whole)};
  for (Share const share : holding.shares) size.parameters.push_back(share.parameter);
  sizes_.push_back(std::move(size));
  unit_count_ = std::max(unit_count_, holding.unit + 1);
  device_[index_of(Purpose::parameters)] +=
      holding.parameter_bytes(holding.parameters, scales_beside_);
  for (TensorKind const kind : state_kinds)
    device_[index_of(state_purpose(kind))] += holding.state_bytes(kind);
  gradients_ += holding.state_bytes(TensorKind::gradient);
  cast_gradients_ += holding.state_bytes(TensorKind::cast_gradient);
}

void Budget::set_step_table() {
  auto const table = parameter_count_ * step_entry_bytes;
  device_[index_of(Purpose::step_table)] = table;
  pinned_[index_of(Purpose::step_table)] = table;
  if (!residence_.capturable) return;
  device_[index_of(Purpose::step_table)] +=
      residence_.group_count * group_state_bytes + parameter_count_ * parameter_state_bytes;
  pinned_[index_of(Purpose::step_table)] = residence_.group_count * group_settings_bytes;
}

void Budget::set_state_scales(std::span<ParameterSpec const> parameters, bool hybrid) {
  bool const scaled = std::ranges::any_of(
      parameters, [](ParameterSpec const& parameter) { return has_scales(parameter.formats); });
  if (!scaled) return;
  device_[index_of(Purpose::state_scales)] = parameter_count_ * scales_bytes;
  if (hybrid) pinned_[index_of(Purpose::state_scales)] = parameter_count_ * hybrid_scales_bytes;
}

// The magnitudes of all parameters lie side by side, this rank's and those of all ranks.
void Budget::set_parameter_scales(std::span<ParameterSpec const> parameters) {
  std::int64_t maxima = 0;
  auto& total = device_[index_of(Purpose::parameter_scales)];
  for (auto const& parameter : parameters) {
    if (!parameter.formats.recipe) continue;
    ScaleCounts const counts = scale_counts(parameter, scales_beside_);
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

void Budget::set_hybrid(std::span<Holding const> holdings, HybridConfig const& config) {
  OnCpu const sum = on_cpu(holdings, config.fraction);
  for (auto const& [kind, bytes] : sum.states) device_[index_of(state_purpose(kind))] = bytes;
  device_[index_of(Purpose::work_list)] = sum.pieces * piece_bytes;
  device_[index_of(Purpose::parameter_scales)] += sum.copies;
  if (config.pin_gradients) pinned_[index_of(Purpose::gradients)] = sum.gradients;
  if (config.pin_parameters) pinned_[index_of(Purpose::parameters)] = sum.weights;
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

// Of a bucket, all of which is reduced if any parameter is.
Budget::ByUnit Budget::by_unit(std::span<char const> takes_part) const {
  auto const units = static_cast<std::size_t>(unit_count_);
  ByUnit sum{.gathered = std::vector<std::int64_t>(units),
             .unreduced = std::vector<std::int64_t>(units),
             .reduced = std::vector<std::int64_t>(units)};
  for (Size const& size : sizes_) {
    auto const unit = static_cast<std::size_t>(size.unit);
    sum.gathered[unit] += size.whole_parameters;
    if (std::ranges::none_of(size.parameters, [&](int parameter) {
          return takes_part[static_cast<std::size_t>(parameter)] != 0;
        }))
      continue;
    sum.unreduced[unit] += size.whole_gradients;
    sum.reduced[unit] += size.reduction;
  }
  return sum;
}

void Budget::keep_unit_buffers() {
  std::vector<char> const all(static_cast<std::size_t>(parameter_count_), 1);
  ByUnit const sum = by_unit(all);
  std::vector<std::int64_t> even, odd;
  for (std::size_t unit = 0; unit < sum.gathered.size(); ++unit)
    (unit % 2 == 0 ? even : odd).push_back(sum.gathered[unit]);
  device_[index_of(Purpose::unsharded_parameters)] = largest_one(even) + largest_one(odd);
  device_[index_of(Purpose::unsharded_gradients)] = largest_one(sum.unreduced);
  device_[index_of(Purpose::reduction)] = largest_one(sum.reduced);
}

void Budget::backward(std::span<int const> without) {
  std::vector<char> takes_part(static_cast<std::size_t>(parameter_count_), 1);
  for (int const parameter : without) {
    check(parameter >= 0, "parameters count from 0");
    check(parameter < parameter_count_, "the parameter exists");
    takes_part[static_cast<std::size_t>(parameter)] = 0;
  }
  if (!residence_.capturable) {
    ByUnit const sum = by_unit(takes_part);
    raise_peak(Purpose::unsharded_parameters, largest_pair(sum.gathered));
    raise_peak(Purpose::unsharded_gradients, largest_one(sum.unreduced));
    raise_peak(Purpose::reduction, largest_one(sum.reduced));
  }
  if (std::ranges::find(takes_part, 1) != takes_part.end()) set_gradients(true);
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
