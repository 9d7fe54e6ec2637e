#include "oracle/budget/budget.h"

#include <algorithm>

#include "oracle/check.h"
#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t whole_alignment_bytes = 16;
constexpr std::int64_t step_entry_bytes = 48;
constexpr std::int64_t piece_bytes = 56;
constexpr std::int64_t piece_numel_max = 65536;

std::size_t index_of(Purpose purpose) {
  return static_cast<std::size_t>(purpose);
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::int64_t whole_bytes(ParameterSpec const& parameter, int world_size, NumberFormat format) {
  auto const rows = world_size * chunk_rows(parameter.rows(), world_size);
  auto const numel = rows * parameter.row_numel();
  return round_up(numel * static_cast<std::int64_t>(bytes_of(format)), whole_alignment_bytes);
}

/// What a parameter's shard of one kind takes; 0 where it has none.
std::int64_t shard_bytes(ParameterSpec const& parameter, int world_size, TensorKind kind) {
  auto const format = stored_format(parameter.formats, kind);
  return format ? padded_bytes(parameter, world_size, *format) : 0;
}

std::int64_t piece_count(ParameterSpec const& parameter, Place place) {
  return (shard_numel(parameter, place) + piece_numel_max - 1) / piece_numel_max;
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

Budget::Budget(std::span<ParameterSpec const> parameters, Place place) {
  std::int64_t pieces = 0;
  for (auto const& parameter : parameters) {
    auto const shard = [&](TensorKind kind) {
      return shard_bytes(parameter, place.world_size, kind);
    };
    auto const& formats = parameter.formats;
    sizes_.push_back(
        {.unit = parameter.unit,
         .gradient_shard = shard(TensorKind::gradient),
         .whole_parameter = whole_bytes(parameter, place.world_size, formats.parameter),
         .whole_gradient = whole_bytes(parameter, place.world_size, formats.gradient)});
    unit_count_ = std::max(unit_count_, parameter.unit + 1);
    device_[index_of(Purpose::parameters)] += shard(TensorKind::parameter);
    device_[index_of(Purpose::exp_avg)] += shard(TensorKind::exp_avg);
    device_[index_of(Purpose::exp_avg_sq)] += shard(TensorKind::exp_avg_sq);
    device_[index_of(Purpose::main)] += shard(TensorKind::main);
    gradients_ += shard(TensorKind::gradient);
    cast_gradients_ += shard(TensorKind::cast_gradient);
    pieces += piece_count(parameter, place);
  }
  auto const table = std::ssize(sizes_) * step_entry_bytes;
  device_[index_of(Purpose::step_table)] = table;
  pinned_[index_of(Purpose::step_table)] = table;
  device_[index_of(Purpose::work_list)] = pieces * piece_bytes;
  for (std::size_t i = 0; i < peak_.size(); ++i) peak_[i] = device_[i] + pinned_[i];
}

void Budget::backward(std::span<int const> without) {
  std::vector<char> takes_part(sizes_.size(), 1);
  for (int const parameter : without) {
    check(parameter >= 0 && parameter < std::ssize(sizes_), "the parameter exists");
    takes_part[static_cast<std::size_t>(parameter)] = 0;
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
  device_[index_of(Purpose::gradients)] = alive ? gradients_ : 0;
  device_[index_of(Purpose::cast_gradients)] = alive ? cast_gradients_ : 0;
  for (auto const purpose : {Purpose::gradients, Purpose::cast_gradients})
    raise_peak(purpose, device_bytes(purpose));
}

}  // namespace adamant::oracle
