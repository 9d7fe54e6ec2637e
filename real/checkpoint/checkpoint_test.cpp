// Save and load through the engine's door, in worlds of simulated ranks or on GPUs. What is refused
// is in refusals_test.cpp.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/names.h"
#include "real/engine.h"
#include "real/testing/small_checkpoint.h"

namespace adamant::real {
namespace {

TEST(Checkpoint, AnyPathOfWorldsKeepsEveryBit) {
  ADAMANT_NEEDS(8, Devices::shared);
  MemoryStorage storage;
  State const saved = save_trained(storage, 4);
  for (int const ranks : {2, 8, 3, 1, 4, 4}) {
    State const loaded = in_world(ranks, [&](Rank& rank) {
      EXPECT_TRUE(rank.engine->load(storage, "c").notes.empty());
      EXPECT_EQ(rank.engine->step_count(0), 2);
      rank.engine->save(storage, "c");
    });
    EXPECT_EQ(loaded, saved) << ranks;
  }
}

TEST(Checkpoint, TrainingGoesOnAsIfNothingHadHappened) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  State const straight = in_world(1, [&](Rank& rank) {
    rank.write(0.1F);
    rank.train(5);
  });
  save_trained(storage, 3);
  State const continued = in_world(2, [&](Rank& rank) {
    rank.engine->load(storage, "c");
    rank.train(3);
  });
  EXPECT_EQ(continued, straight);
}

TEST(Checkpoint, StatesInHostMemoryAreSavedAndLoadedThere) {
  ADAMANT_NEEDS(2, Devices::shared);
  State const straight = in_world(1, [&](Rank& rank) {
    rank.write(0.1F);
    rank.train(5);
  });
  EngineConfig away = small_config();
  away.state_offload = StateOffloadConfig{};
  EngineConfig hybrid = small_config();
  hybrid.hybrid = HybridConfig{.fraction = 0.5};
  MemoryStorage storage;
  save_trained(storage, 2);
  for (EngineConfig const& config : {away, hybrid, away}) {
    EXPECT_EQ(in_world(2, config,
                       [&](Rank& rank) {
                         rank.engine->load(storage, "c");
                         rank.engine->save(storage, "d");
                         rank.engine->load(storage, "d");
                         rank.train(3);
                       }),
              straight);
  }
}

/// The same parameters with everything else in fp32, and main weights for all of 16 bits.
EngineConfig wide_config() {
  EngineConfig config = small_config();
  for (ParameterSpec& spec : config.parameters)
    spec.formats = {.parameter = spec.formats.parameter, .main = spec.formats.main};
  for (ParameterSpec& spec : config.parameters)
    if (spec.formats.main) spec.formats.main = NumberFormat::fp32;
  return config;
}

LoadOptions rounding_anything(EngineConfig const& config) {
  return {.may_round = std::vector<MayRound>(
              config.parameters.size(),
              {.parameter = true, .main = true, .exp_avg = true, .exp_avg_sq = true})};
}

// Whatever steps after the load, device or CPU, goes on from the same numbers.
TEST(Checkpoint, OtherTypesGoOnAlikeOnDeviceAndInHostMemory) {
  ADAMANT_NEEDS(3, Devices::shared);
  for (bool const narrows : {true, false}) {
    EngineConfig const from = narrows ? wide_config() : small_config();
    EngineConfig to = narrows ? small_config() : wide_config();
    LoadOptions const options = rounding_anything(to);
    MemoryStorage storage;
    in_world(3, from, [&](Rank& rank) {
      rank.write(0.1F);
      rank.train(2);
      rank.engine->save(storage, "c");
    });
    auto const go_on = [&](Rank& rank) {
      rank.engine->load(storage, "c", options);
      rank.train(2);
    };
    State const on_device = in_world(1, to, go_on);
    to.hybrid = HybridConfig{.fraction = 0.5};
    EXPECT_EQ(in_world(2, to, go_on), on_device) << narrows;
    to.hybrid.reset();
    to.state_offload = StateOffloadConfig{};
    EXPECT_EQ(in_world(3, to, go_on), on_device) << narrows;
  }
}

TEST(Checkpoint, ALoadThatMayNotRoundChangesNothing) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  in_world(2, wide_config(), [&](Rank& rank) {
    rank.write(0.1F);
    rank.train(2);
    rank.engine->save(storage, "c");
  });
  in_world(2, small_config(), [&](Rank& rank) {
    State const before = state_of(rank);
    EXPECT_THROW(rank.engine->load(storage, "c"), CheckpointError);
    EXPECT_TRUE(rank.engine->has_state());
    EXPECT_EQ(state_of(rank), before);
    rank.engine->load(storage, "c", rounding_anything(small_config()));
    EXPECT_NE(state_of(rank), before);
  });
}

TEST(Checkpoint, SettingsOfGroupsComeBackByName) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  AdamConfig const changed = {.mode = AdamMode::adam, .learning_rate = 0.3F, .beta2 = 0.5F};
  in_world(2, [&](Rank& rank) {
    rank.engine->set_group(1, changed);
    rank.engine->save(storage, "c");
  });
  EngineConfig swapped = small_config();
  std::swap(swapped.group_names[0], swapped.group_names[1]);
  for (ParameterSpec& spec : swapped.parameters) spec.group = 1 - spec.group;
  in_world(2, swapped, [&](Rank& rank) {
    rank.engine->load(storage, "c");
    EXPECT_EQ(rank.engine->group(0), changed);
    EXPECT_EQ(rank.engine->group(1), small_config().groups[0]);
  });
}

TEST(Checkpoint, ALoadTakesGradientsAwayAndKeepsAddresses) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 1);
  in_world(1, [&](Rank& rank) {
    rank.engine->backward({});
    void const* const address = rank.engine->shard(0, TensorKind::exp_avg).data;
    std::size_t const buffers = rank.engine->buffers().size();
    rank.engine->load(storage, "c");
    EXPECT_FALSE(rank.engine->has_gradient(0));
    EXPECT_EQ(rank.engine->shard(0, TensorKind::exp_avg).data, address);
    EXPECT_EQ(rank.engine->buffers().size(), buffers - 1);
  });
}

TEST(Checkpoint, PiecesPassThroughLittleMemory) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  in_world(2, [&](Rank& rank) {
    rank.engine->save(storage, "c");
    EXPECT_LE(rank.engine->peak_bytes(Purpose::checkpoint), 4096U);  // slots, and checksums told
    rank.engine->load(storage, "c");
    EXPECT_LE(rank.engine->peak_bytes(Purpose::checkpoint), 8192U);  // what headers say
  });
}

TEST(Checkpoint, AnOlderCheckpointFromMoreRanksLeavesNothing) {
  ADAMANT_NEEDS(4, Devices::shared);
  MemoryStorage storage;
  save_trained(storage, 4);
  in_world(2, [&](Rank& rank) { rank.engine->save(storage, "c"); });
  EXPECT_EQ(storage.list("c"),
            (std::vector<DirectoryEntry>{
                {manifest_name, false}, {shard_file_name(0), false}, {shard_file_name(1), false}}));
  EXPECT_EQ(storage.list(".").size(), 1U);
}

// ---- saves that fail ----

TEST(Checkpoint, ASaveThatFailsOnOneRankFailsOnAllAndLeavesTheOlderOne) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  State const saved = save_trained(storage, 2);
  storage.refuses_append = [](std::string const& path) {
    return path.ends_with(shard_file_name(1));
  };
  in_world(2, [&](Rank& rank) {
    EXPECT_THROW(rank.engine->save(storage, "c"), StorageError);
    rank.train(1);
  });
  storage.refuses_append = nullptr;
  EXPECT_EQ(storage.list(".").size(), 1U);
  EXPECT_EQ(in_world(2, [&](Rank& rank) { rank.engine->load(storage, "c"); }), saved);
}

TEST(Checkpoint, ASaveThatWasCutOffBetweenItsRenamesLeavesTheOlderOneToLoadAndToReplace) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  State const saved = save_trained(storage, 2);
  storage.rename("c", ".c.previous");
  storage.make_directory(".c.partial");
  EXPECT_EQ(in_world(2, [&](Rank& rank) { rank.engine->load(storage, "c"); }), saved);
  save_trained(storage, 2);
  EXPECT_EQ(storage.list("."), (std::vector<DirectoryEntry>{{"c", true}}));
}

ScalingState scaling_state(Rank& rank) {
  ScalingState state;
  ADAMANT_TRY(cudaMemcpyAsync(&state, rank.engine->scaling().state, sizeof state,
                              cudaMemcpyDeviceToHost, rank.engine->streams().front().stream));
  rank.engine->synchronize();
  return state;
}

TEST(Checkpoint, KeepsWhereTheLossScalerHasComeTo) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  in_world(3, [&](Rank& rank) {
    rank.engine->set_loss_scale({.kind = LossScale::Kind::dynamic});
    rank.engine->set_max_norm(0.125F);
    rank.train(2);
    rank.engine->save(storage, "c");
  });
  in_world(2, [&](Rank& rank) {
    rank.engine->load(storage, "c");
    EXPECT_TRUE(rank.engine->scaling().looks);
    EXPECT_EQ(rank.engine->scaling().max_norm, 0.125F);
    EXPECT_EQ(scaling_state(rank).growth_tracker, 2);
    EXPECT_EQ(scaling_state(rank).scale, 0x1p32F);
  });
}

}  // namespace
}  // namespace adamant::real
