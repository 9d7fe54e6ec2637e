// What the door promises beside the numbers of a step: what it shows, refuses and keeps, and how an
// engine goes.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/cuda/error.h"
#include "real/engine.h"
#include "real/testing/memory_storage.h"
#include "real/testing/small_world.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;

// A main weight, no rows at all, and a unit of its own.
std::vector<ParameterSpec> parameters() {
  Formats const mixed = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  return {{.name = "w", .shape = {4, 3}, .formats = mixed},
          {.name = "none", .shape = {0, 4}},
          {.name = "b", .shape = {5}, .group = 1, .unit = 1}};
}

EngineConfig small_config() {
  EngineConfig config;
  config.parameters = parameters();
  config.groups = {{.weight_decay = 0.1F}, {.mode = AdamMode::adam, .learning_rate = 0.1F}};
  config.checkpoint_piece_bytes = 64;
  return config;
}

/// Asked for whole gradients, gives zeros, and brings the whole parameters to the host.
class Downloads final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    stream = request.stream;
    for (WholeTensor const& tensor : request.tensors) {
      std::size_t const bytes = static_cast<std::size_t>(tensor.numel) * sizeof(float);
      if (bytes == 0) continue;
      ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0, bytes, request.stream));
      Values& values = whole[tensor.parameter];
      values.resize(static_cast<std::size_t>(tensor.numel));
      ADAMANT_TRY(cudaMemcpyAsync(values.data(), tensor.value, bytes, cudaMemcpyDeviceToHost,
                                  request.stream));
    }
  }

  cudaStream_t stream = nullptr;
  std::map<int, Values> whole;  // by parameter
};

Values ascending(std::int64_t numel) {
  Values values;
  for (std::int64_t i = 0; i < numel; ++i) values.push_back(static_cast<float>(i + 1));
  return values;
}

TEST(Door, ShowsNoAddressOfWhatIsNotThere) {
  ADAMANT_NEEDS(1, Devices::shared);
  in_world(1, small_config(), [](Rank& rank) {
    int const without[] = {2};
    rank.engine->backward(without);
    EXPECT_NE(rank.engine->shard(0, TensorKind::gradient).data, nullptr);
    EXPECT_EQ(rank.engine->shard(2, TensorKind::gradient).data, nullptr);
    EXPECT_EQ(rank.engine->shard(2, TensorKind::main).data, nullptr);
    for (TensorKind const kind : all_tensor_kinds)
      EXPECT_EQ(rank.engine->shard(1, kind).data, nullptr);
  });
}

int priority_of(NamedStream const& stream) {
  int priority = 0;
  ADAMANT_TRY(cudaStreamGetPriority(stream.stream, &priority));
  return priority;
}

// Collectives should not queue behind the math.
TEST(Door, NamesEachStreamOnce) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    Downloads source;
    EngineConfig config = small_config();
    config.parameters = {{.name = "b", .shape = {5}}};
    config.device = context.device;
    config.nccl_id = context.nccl_id;
    config.state_offload = StateOffloadConfig{};
    auto const engine = make_engine(config, source);
    engine->backward({});
    engine->synchronize();
    std::vector<NamedStream> const streams = engine->streams();
    std::set<cudaStream_t> different;
    std::vector<std::string> names;
    for (NamedStream const& stream : streams) {
      different.insert(stream.stream);
      names.push_back(stream.name);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"compute", "comm", "copy", "down", "up"}));
    EXPECT_EQ(different.size(), names.size());
    EXPECT_EQ(streams[0].stream, source.stream);
    int least = 0;
    int greatest = 0;
    ADAMANT_TRY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_EQ(priority_of(streams[1]), greatest);
    EXPECT_EQ(priority_of(streams[0]), least);
  });
}

TEST(Door, AWeightMayBeWrittenWhileStatesLeave) {
  ADAMANT_NEEDS(2, Devices::shared);
  auto const body = [](Rank& rank) {
    rank.write(0.1F);
    rank.train(1);
    rank.write(0.7F);
    rank.train(1);
  };
  EngineConfig leaving = small_config();
  leaving.state_offload = StateOffloadConfig{};
  EXPECT_EQ(in_world(2, leaving, body), in_world(2, small_config(), body));
}

/// Gives gradients of zero by so much work that the host is far ahead of it.
class SlowGradients final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors)
      for (int i = 0; i < 50; ++i)
        ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0,
                                    static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                    request.stream));
  }
};

// Not only in the account: who allocates waits until the last owner is gone.
TEST(Door, TwoWholeUnitsAreOnTheDeviceAtOnce) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    EngineConfig config = small_config();
    config.parameters.clear();
    for (int unit = 0; unit < 6; ++unit)
      config.parameters.push_back({.name = std::to_string(unit), .shape = {64}, .unit = unit});
    config.device = context.device;
    config.nccl_id = context.nccl_id;
    SlowGradients source;
    auto const engine = make_engine(config, source);
    engine->synchronize();
    auto const grown = growth_at_most([&] {
      engine->backward({});
      engine->synchronize();
    });
    constexpr std::size_t unit_bytes = 64 * sizeof(float);
    // All gradients, two units of parameters, one of whole gradients, and its sum.
    EXPECT_LE(grown.value_or(0), unit_bytes * (6 + 2 + 1 + 1));
  });
}

// Nobody waits for a backward before its engine goes: what was asked for is done all the same.
TEST(Door, WorkIsDoneWhenItsEngineHasGone) {
  ADAMANT_NEEDS(2, Devices::own);
  run_ranks(2, Devices::own, [](RankContext const& context) {
    Downloads source;
    EngineConfig config = small_config();
    config.parameters = {{.name = "a", .shape = {7, 3}}, {.name = "b", .shape = {5}, .unit = 1}};
    config.rank = context.rank;
    config.mesh = {.shards = 2};
    config.microbatches = 2;
    config.device = context.device;
    config.nccl_id = context.nccl_id;
    auto engine = make_engine(config, source);
    engine->write_parameter(0, ascending(21));
    engine->write_parameter(1, ascending(5));
    engine->backward({});
    engine.reset();
    EXPECT_EQ(source.whole[0], ascending(21));
    EXPECT_EQ(source.whole[1], ascending(5));
  });
}

// Of a host program that fails beside its engine the other ranks may know, and not come.
TEST(Door, AnEngineThatUnwindsWaitsForNobody) {
  ADAMANT_NEEDS(2, Devices::own);
  run_ranks(2, Devices::own, [](RankContext const& context) {
    SlowGradients source;
    EngineConfig config = small_config();
    config.parameters = {{.name = "a", .shape = {7, 3}}};
    config.rank = context.rank;
    config.mesh = {.shards = 2};
    config.microbatches = 2;
    config.device = context.device;
    config.nccl_id = context.nccl_id;
    try {
      auto const engine = make_engine(config, source);
      engine->backward({});
      engine->synchronize();
      if (context.rank == 0) engine->backward({});
      throw std::runtime_error("of the host program");
    } catch (std::runtime_error const&) {
    }
  });
}

TEST(Door, RefusesEveryVerbButLoadWithoutState) {
  ADAMANT_NEEDS(1, Devices::shared);
  MemoryStorage storage;
  in_world(1, small_config(), [&](Rank& rank) {
    Engine& engine = *rank.engine;
    engine.set_max_norm(1.0F);
    engine.save(storage, "c");
    // In a piece of tensors alone: what headers and steps are in is looked at before.
    std::vector<std::byte>& file = storage.bytes_of("c/" + shard_file_name(0));
    file[header_bytes(std::span(file).first<8>(), file.size(), "") + 64] ^= std::byte{1};
    EXPECT_THROW(engine.load(storage, "c"), CheckpointError);
    ASSERT_FALSE(engine.has_state());
    EXPECT_THROW(engine.write_parameter(2, ascending(5)), NoStateError);
    EXPECT_THROW(engine.backward({}), NoStateError);
    EXPECT_THROW(engine.clip(), NoStateError);
    EXPECT_THROW(engine.step(), NoStateError);
    EXPECT_THROW(engine.zero_grad(true), NoStateError);
    EXPECT_THROW(engine.offload(), NoStateError);
    EXPECT_THROW(engine.reload(), NoStateError);
    EXPECT_THROW(engine.set_group(0, {}), NoStateError);
    EXPECT_THROW(engine.set_max_norm({}), NoStateError);
    EXPECT_THROW(engine.set_loss_scale({}), NoStateError);
    EXPECT_THROW(engine.save(storage, "d"), NoStateError);
    EXPECT_THROW(engine.capture({}), NoStateError);
    EXPECT_THROW(engine.replay(), NoStateError);
    engine.synchronize();
  });
}

TEST(Door, GroupsWithoutNamesAreSavedByTheirNumbers) {
  ADAMANT_NEEDS(2, Devices::shared);
  MemoryStorage storage;
  AdamConfig const changed = {.learning_rate = 0.3F};
  in_world(2, small_config(), [&](Rank& rank) {
    rank.engine->set_group(1, changed);
    rank.engine->save(storage, "c");
  });
  EngineConfig named = small_config();
  named.group_names = {"0", "1"};
  in_world(2, named, [&](Rank& rank) {
    rank.engine->load(storage, "c");
    EXPECT_EQ(rank.engine->group(0), named.groups[0]);
    EXPECT_EQ(rank.engine->group(1), changed);
  });
}

// Its counters are on the device, where a load has to bring them.
TEST(Door, ACapturableEngineCountsOnFromWhereItWasSaved) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (StepCounter const counter : {StepCounter::group, StepCounter::parameter}) {
    EngineConfig config = small_config();
    config.parameters[1].shape = {3, 2};
    config.capturable = true;
    config.step_counter = counter;
    State const straight = in_world(1, config, [](Rank& rank) {
      rank.write(0.1F);
      rank.train(5);
    });
    MemoryStorage storage;
    in_world(2, config, [&](Rank& rank) {
      rank.write(0.1F);
      rank.train(2);
      rank.engine->save(storage, "c");
    });
    State const continued = in_world(2, config, [&](Rank& rank) {
      rank.engine->load(storage, "c");
      rank.train(3);
    });
    EXPECT_EQ(continued, straight);
  }
}

}  // namespace
}  // namespace adamant::real
