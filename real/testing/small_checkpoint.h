// A small engine with parameters of most formats, and what it saves after two steps: for tests of
// checkpoints.
#pragma once

#include <functional>
#include <vector>

#include "real/testing/memory_storage.h"
#include "real/testing/small_world.h"

namespace adamant::real {

/// Shorter than worlds, longer, without rows, in other formats; names out of order.
inline std::vector<ParameterSpec> mixed_parameters() {
  Formats const mixed = {
      .parameter = NumberFormat::bf16, .exp_avg = NumberFormat::bf16, .main = NumberFormat::fp32};
  Formats const half = {.parameter = NumberFormat::fp16, .main = NumberFormat::fp32};
  Formats const scaled = {.parameter = NumberFormat::bf16,
                          .exp_avg = NumberFormat::fp8,
                          .exp_avg_sq = NumberFormat::fp16,
                          .main = NumberFormat::fp16};
  Formats const split = {.parameter = NumberFormat::bf16,
                         .exp_avg_sq = NumberFormat::fp8,
                         .main = NumberFormat::remainder};
  return {{.name = "embed", .shape = {7, 3}},
          {.name = "a.none", .shape = {0, 4}, .group = 1},
          {.name = "one", .shape = {1, 2}, .group = 1, .unit = 1, .formats = mixed},
          {.name = "head", .shape = {37}, .unit = 1, .formats = half},
          {.name = "scaled", .shape = {5, 3}, .unit = 2, .formats = scaled},
          {.name = "split", .shape = {9}, .unit = 2, .formats = split}};
}

inline EngineConfig small_config() {
  EngineConfig config;
  config.parameters = mixed_parameters();
  config.groups = {{.weight_decay = 0.1F}, {.mode = AdamMode::adam, .learning_rate = 0.1F}};
  config.group_names = {"default", "other"};
  config.checkpoint_piece_bytes = 64;
  return config;
}

inline State in_world(int ranks, std::function<void(Rank&)> const& body) {
  return in_world(ranks, small_config(), body);
}

/// Saves a checkpoint `c` of a world that was trained for two steps.
inline State save_trained(MemoryStorage& storage, int ranks) {
  return in_world(ranks, [&](Rank& rank) {
    rank.write(0.1F);
    rank.train(2);
    rank.engine->save(storage, "c");
  });
}

}  // namespace adamant::real
