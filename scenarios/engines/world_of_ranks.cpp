#include "scenarios/engines/world_of_ranks.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <variant>

#include "oracle/quantise/states.h"
#include "scenarios/engines/quantised_shard.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

/// What an engine's view of scaling says; `state` is a copy of the view's on this host, or anything
/// where the view has none.
RankScaling scaling_of(real::ScalingView const& view, real::ScalingState const& state) {
  RankScaling scaling{.max_norm = view.max_norm};
  if (view.state == nullptr) return scaling;
  scaling.loss_scale = state.scale;
  scaling.skipped = state.overflowed != 0;
  scaling.inverse = state.applied;
  scaling.growth_tracker = state.growth_tracker;
  scaling.hysteresis = state.hysteresis;
  if (!view.clipped) return scaling;
  scaling.norm = state.norm;
  scaling.coefficient = state.coefficient;
  return scaling;
}

/// The fp32 weights of which these are the bf16 parameters and the remainders. REQUIRES: as many.
///
/// By the oracle's rule: an engine that joins them otherwise shows another weight than it steps.
std::vector<std::byte> joined(std::span<std::byte const> parameters,
                              std::span<std::byte const> remainders) {
  ADAMANT_RUN_ASSERT(parameters.size() == remainders.size());
  std::size_t const numel = remainders.size() / sizeof(std::uint16_t);
  std::vector<std::byte> weights(numel * sizeof(float));
  for (std::size_t i = 0; i < numel; ++i) {
    oracle::SplitWeight halves;
    std::memcpy(&halves.parameter, parameters.data() + i * sizeof halves.parameter,
                sizeof halves.parameter);
    std::memcpy(&halves.remainder, remainders.data() + i * sizeof halves.remainder,
                sizeof halves.remainder);
    float const weight = oracle::joined(halves);
    std::memcpy(weights.data() + i * sizeof weight, &weight, sizeof weight);
  }
  return weights;
}

}  // namespace

bool needs_room(Scenario const& setting) {
  auto const parameters = parameter_specs(setting);
  return std::holds_alternative<HybridOffload>(setting.offload) ||
         std::ranges::any_of(parameters, [](ParameterSpec const& spec) {
           return spec.formats.main == NumberFormat::remainder;
         });
}

void const* address_of(real::ShardView const& view) {
  return view.quantised ? view.quantised->codes : view.data;
}

Shard WorldOfRanks::shard(int rank, int parameter, TensorKind kind) const {
  auto const number =
      (static_cast<std::size_t>(rank) * parameters_ + static_cast<std::size_t>(parameter)) *
          tensor_kind_count +
      static_cast<std::size_t>(kind);
  std::optional<Shard>& known = shards_[number];
  std::vector<std::byte> none;
  if (!known)
    known = read(rank, at(rank).engine().shard(at(rank).place_of(parameter), kind),
                 rooms_.empty() ? none : rooms_[number]);
  return *known;
}

Shard WorldOfRanks::read(int rank, real::ShardView const& view,
                         std::vector<std::byte>& room) const {
  auto const copy = [&](void* to, void const* from, std::size_t bytes) {
    copy_to_host(rank, to, from, bytes);
  };
  bool const half = view.format == NumberFormat::remainder;
  Shard shard{.ranges = view.ranges,
              .format = half ? NumberFormat::fp32 : view.format,
              .address = address_of(view)};
  if (view.scale != nullptr) copy(&shard.scale, view.scale, sizeof shard.scale);
  if (view.quantised) show(quantised_shard(*view.quantised, view.numel, copy), shard);
  if (view.data == nullptr) return shard;
  shard.bytes = bytes_of_view(rank, view, room);
  if (!half) return shard;
  std::vector<std::byte> parameters(shard.bytes.size());
  copy(parameters.data(), view.upper, parameters.size());
  room = joined(parameters, shard.bytes);
  shard.bytes = room;
  return shard;
}

/// Where they are, or in `room`.
std::span<std::byte const> WorldOfRanks::bytes_of_view(int rank, real::ShardView const& view,
                                                       std::vector<std::byte>& room) const {
  std::size_t const size = bytes_of(view.format);
  auto const* const data = static_cast<std::byte const*>(view.data);
  std::size_t const bytes = static_cast<std::size_t>(view.numel) * size;
  std::size_t const tail_bytes = static_cast<std::size_t>(view.tail_numel) * size;
  bool const here = view.on_host || reads_devices();
  if (tail_bytes == 0 && here) return {data, bytes};
  room.resize(bytes);
  if (here)
    std::memcpy(room.data(), data, bytes - tail_bytes);
  else
    copy_to_host(rank, room.data(), data, bytes - tail_bytes);
  if (tail_bytes > 0) std::memcpy(room.data() + bytes - tail_bytes, view.tail, tail_bytes);
  return room;
}

RankScaling WorldOfRanks::scaling(int rank) const {
  real::ScalingView const view = at(rank).engine().scaling();
  real::ScalingState state;
  if (view.state != nullptr) copy_to_host(rank, &state, view.state, sizeof state);
  return scaling_of(view, state);
}

std::optional<std::uint64_t> WorldOfRanks::gathered_fingerprint(int rank, int parameter) const {
  auto const partials = at(rank).gradients().partial_fingerprints(at(rank).place_of(parameter));
  if (partials.empty()) return std::nullopt;
  std::vector<std::uint64_t> copy(partials.size());
  copy_to_host(rank, copy.data(), partials.data(), partials.size_bytes());
  return std::accumulate(copy.begin(), copy.end(), std::uint64_t{0});
}

std::uint64_t WorldOfRanks::fold(std::size_t parameters) const {
  std::uint64_t fold = 0;
  for (int rank = 0; rank < rank_count(); ++rank)
    for (std::size_t p = 0; p < parameters; ++p) {
      Shard const held = shard(rank, static_cast<int>(p), TensorKind::parameter);
      fold = (fold ^ weighted_sum(held)) * 0x9e3779b97f4a7c15ULL;
    }
  return fold;
}

}  // namespace adamant::scenarios
