#include "properties/negative/handmade_world.h"

#include <span>

#include "scenarios/gradients/keys.h"
#include "scenarios/gradients/values.h"

namespace adamant::properties {

namespace {

constexpr ElementRange owned[] = {{0, 4}, {4, 6}};  // by each rank
constexpr std::size_t shard_bytes = 16;             // four elements on every rank
constexpr std::size_t whole_bytes = 32;             // two such shards
constexpr std::size_t table_bytes = 48;             // one parameter
constexpr std::size_t piece_bytes = 56;             // one piece on each rank
constexpr std::size_t allocations_max = 64;

HandmadeRank make_rank(ElementRange range, std::uint64_t seed) {
  HandmadeRank rank;
  rank.ranges = {range};
  auto const key = scenarios::initial_key({.seed = seed, .parameter = 0});
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    auto const hash = scenarios::element_hash(key, static_cast<std::uint64_t>(i));
    rank.tensor(TensorKind::parameter).push_back(scenarios::initial_value(hash));
    rank.tensor(TensorKind::exp_avg).push_back(0.0F);
    rank.tensor(TensorKind::exp_avg_sq).push_back(0.0F);
  }
  return rank;
}

}  // namespace

HandmadeWorld::HandmadeWorld(scenarios::Scenario const& scenario) : addresses_(allocations_max) {
  for (int rank = 0; rank < rank_count(); ++rank) {
    ranks[static_cast<std::size_t>(rank)] = make_rank(owned[rank], scenario.seed.value_or(0));
    add_buffer(rank, Purpose::parameters, shard_bytes);
    add_buffer(rank, Purpose::exp_avg, shard_bytes);
    add_buffer(rank, Purpose::exp_avg_sq, shard_bytes);
    add_buffer(rank, Purpose::step_table, table_bytes);
    add_buffer(rank, Purpose::step_table, table_bytes, true);
    add_buffer(rank, Purpose::work_list, piece_bytes);
  }
}

void HandmadeWorld::zero_gradients() {
  for (int rank = 0; rank < rank_count(); ++rank) {
    HandmadeRank& r = ranks[static_cast<std::size_t>(rank)];
    r.tensor(TensorKind::gradient).assign(r.tensor(TensorKind::parameter).size(), 0.0F);
    r.has_gradient = true;
    add_buffer(rank, Purpose::gradients, shard_bytes);
  }
}

void HandmadeWorld::weigh_gathered_unit() {
  for (HandmadeRank& r : ranks)
    r.peaks[static_cast<std::size_t>(Purpose::unsharded_parameters)] = whole_bytes;
}

void HandmadeWorld::weigh_reduced_unit() {
  for (HandmadeRank& r : ranks) {
    r.peaks[static_cast<std::size_t>(Purpose::unsharded_gradients)] = whole_bytes;
    r.peaks[static_cast<std::size_t>(Purpose::reduction)] = shard_bytes;
  }
}

void HandmadeWorld::add_buffer(int rank, Purpose purpose, std::size_t bytes, bool on_host) {
  void const* const address = addresses_.data() + live.size();
  HandmadeRank& r = ranks[static_cast<std::size_t>(rank)];
  r.buffers.push_back({.address = address, .bytes = bytes, .purpose = purpose, .on_host = on_host});
  r.peaks[static_cast<std::size_t>(purpose)] += bytes;
  live.push_back({.address = address, .bytes = bytes, .rank = rank, .on_host = on_host});
}

scenarios::Shard HandmadeWorld::shard(int rank, int, TensorKind kind) const {
  HandmadeRank const& r = at(rank);
  auto const& values = r.tensors[static_cast<std::size_t>(kind)];
  return {.ranges = r.ranges,
          .bytes = std::as_bytes(std::span(values)),
          .address = values.empty() ? nullptr : values.data()};
}

std::optional<scenarios::Shard> HandmadeWorld::whole(int rank, int, TensorKind kind) const {
  auto const& values = at(rank).whole;
  if (kind != TensorKind::parameter || values.empty()) return std::nullopt;
  return scenarios::Shard{.bytes = std::as_bytes(std::span(values))};
}

scenarios::Scenario handmade_scenario() {
  scenarios::Scenario scenario;
  scenario.name = "handmade";
  scenario.seed = 7;
  scenario.world.shard = 2;
  scenario.params = {{.name = "w", .shape = {3, 2}, .group = "", .precision = {}, .line = {}}};
  scenario.program = {{.action = scenarios::Check{}, .line = {}}};
  return scenario;
}

}  // namespace adamant::properties
