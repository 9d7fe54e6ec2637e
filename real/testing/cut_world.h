// Worlds in which rows are cut, so that every rank writes several files: an engine for each rank,
// and what an attempt to load leaves of all of them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/testing/small_world.h"

namespace adamant::real {

/// Two parameters in one buffer of 64 elements, one of them saved in parts: w is cut inside of rows
/// by two shards and by four, `fused` by four.
inline EngineConfig cut_config(Mesh const& mesh, Formats const& formats = {}) {
  EngineConfig config;
  config.mesh = mesh;
  config.layout = LayoutKind::flat;
  config.parameters = {
      {.name = "fused", .shape = {6, 3}, .formats = formats, .parts = {"up", "gate"}},
      {.name = "w", .shape = {7, 5}, .formats = formats}};
  config.groups = {{}};
  config.group_names = {"default"};
  config.checkpoint_piece_bytes = 128;
  return config;
}

/// Numbers beside elements, for each state and shard.
inline Formats scaled_formats() {
  return {.parameter = NumberFormat::bf16,
          .exp_avg = NumberFormat::fp8,
          .main = NumberFormat::fp32,
          .state_scale = StateScale::local};
}

inline Mesh const two_ranks = {.shards = 2};
inline Mesh const with_replicas = {.shards = 2, .replicas = 2};
inline Mesh const cut_over_replicas = {.shards = 2, .replicas = 2, .outer = Outer::optim};

/// Returns when all ranks of the world have called it.
using Meet = std::function<void()>;

/// Runs the body on every rank, by one schedule alone: what is enumerated in it takes its time.
inline void in_cut_world(EngineConfig config, std::function<void(Rank&, Meet const&)> const& body) {
  int const ranks = config.mesh.rank_count();
  config.exchange = make_loopback_exchange(ranks);
  std::vector<char> done(static_cast<std::size_t>(ranks), 0);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    if (std::exchange(done[static_cast<std::size_t>(context.rank)], 1) != 0) return;
    Rank rank(context, config);
    body(rank, [&] { context.rendezvous.arrive_and_wait(context.rank); });
  });
}

/// What came of a load on one rank.
struct LoadOutcome {
  std::string refusal = "not refused";
  CheckpointError::Kind kind = CheckpointError::Kind::damaged;
  bool has_state = true;

  friend bool operator==(LoadOutcome const&, LoadOutcome const&) = default;
};

inline LoadOutcome outcome_of_load(Rank& rank, Storage& storage) {
  try {
    rank.engine->load(storage, "c");
    return {};
  } catch (CheckpointError const& error) {
    return {error.what(), error.kind(), rank.engine->has_state()};
  }
}

}  // namespace adamant::real
