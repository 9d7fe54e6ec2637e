#include "real/graph/graph.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "real/cuda/error.h"
#include "real/engine.h"
#include "real/shard/memory.h"
#include "real/testing/memory_storage.h"
#include "real/testing/quantised_world.h"
#include "real/testing/ranks.h"
#include "real/testing/small_world.h"

namespace adamant::real {
namespace {

std::uint32_t word_at(DeviceBuffer const& buffer, Stream const& stream) {
  std::uint32_t word = 0;
  ADAMANT_TRY(
      cudaMemcpyAsync(&word, buffer.as<void>(), sizeof word, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  return word;
}

// That nothing is left of the others is counted when the world ends.
TEST(Graph, IsWhatWasRecordedLast) {
  ADAMANT_NEEDS(1, Devices::shared);
  run_ranks(1, Devices::shared, [](RankContext const&) {
    Ledger ledger;
    Stream const stream;
    DeviceBuffer const buffer(ledger, Purpose::reduction, sizeof(std::uint32_t), stream);
    Graph graph;
    EXPECT_FALSE(graph);
    for (int const byte : {1, 2}) {
      graph.record(stream, [&] {
        ADAMANT_TRY(cudaMemsetAsync(buffer.as<void>(), byte, buffer.bytes(), stream.get()));
      });
      EXPECT_TRUE(graph);
      graph.launch(stream);
      EXPECT_EQ(word_at(buffer, stream), 0x01010101U * static_cast<unsigned>(byte));
    }
    EXPECT_THROW(graph.record(stream, [] { throw std::runtime_error("in the middle"); }),
                 std::runtime_error);
    EXPECT_FALSE(graph);
    stream.synchronize();  // captures no more
  });
}

/// Gives gradients of zero and counts how often.
class CountedGradients final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    ++calls;
    if (fails) throw std::runtime_error("no gradients");
    for (WholeTensor const& tensor : request.tensors)
      ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0,
                                  static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                  request.stream));
  }
  int calls = 0;
  bool fails = false;
};

// A model is asked to record its backward when the capture is, and by no replay.
TEST(Graph, ACaptureRecordsAtOnce) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    EngineConfig config;
    config.parameters = {{.name = "a", .shape = {3, 2}}, {.name = "b", .shape = {5}, .unit = 1}};
    config.groups = {{}};
    config.device = context.device;
    config.nccl_id = context.nccl_id;
    config.capturable = true;
    CountedGradients source;
    auto const engine = make_engine(config, source);
    Verb const verbs[] = {{.kind = Verb::Kind::backward}, {.kind = Verb::Kind::step}};
    engine->capture(verbs);
    EXPECT_EQ(source.calls, 2);
    EXPECT_FALSE(engine->has_gradient(0));
    EXPECT_EQ(engine->step_count(0), 0);
    engine->replay();
    EXPECT_EQ(source.calls, 2);
    EXPECT_TRUE(engine->has_gradient(0));
    EXPECT_EQ(engine->step_count(0), 1);
    engine->synchronize();
  });
}

// NCCL waits for graphs that have its calls, also where it is given up.
TEST(Graph, GoesBeforeTheCommunicatorsOfAnEngine) {
  ADAMANT_NEEDS(2, Devices::own);
  for (bool const fails : {false, true})
    run_ranks(2, Devices::own, [&](RankContext const& context) {
      EngineConfig config;
      config.rank = context.rank;
      config.mesh = {.shards = 2};
      config.microbatches = 2;
      config.parameters = {{.name = "a", .shape = {3, 2}}};
      config.groups = {{}};
      config.device = context.device;
      config.nccl_id = context.nccl_id;
      config.capturable = true;
      CountedGradients source;
      auto engine = make_engine(config, source);
      Verb const verbs[] = {{.kind = Verb::Kind::backward}};
      engine->capture(verbs);
      engine->replay();
      source.fails = fails;
      if (fails) {
        EXPECT_THROW(engine->backward({}), std::runtime_error);
      }
      engine.reset();
    });
}

/// Types of every sort that a graph may have, loss scale and norm.
EngineConfig capturable_config() {
  Formats const mixed = {.parameter = NumberFormat::bf16,
                         .exp_avg = NumberFormat::fp8,
                         .exp_avg_sq = NumberFormat::fp16,
                         .main = NumberFormat::fp32};
  EngineConfig config;
  config.parameters = {{.name = "a", .shape = {3, 2}},
                       {.name = "b", .shape = {5}, .group = 1, .formats = mixed},
                       {.name = "c", .shape = {32, 32}, .formats = formats_by(Recipe::mxfp8)}};
  config.groups = {{.weight_decay = 0.1F}, {.learning_rate = 0.1F}};
  config.group_names = {"first", "second"};
  config.loss_scale = {.kind = LossScale::Kind::dynamic};
  config.max_norm = 0.5F;
  config.capturable = true;
  return config;
}

std::vector<void const*> addresses_of(Rank const& rank) {
  std::vector<void const*> addresses;
  for (Buffer const& buffer : rank.engine->buffers()) addresses.push_back(buffer.address);
  return addresses;
}

std::vector<Verb> const iteration = {{.kind = Verb::Kind::backward},
                                     {.kind = Verb::Kind::clip},
                                     {.kind = Verb::Kind::step},
                                     {.kind = Verb::Kind::zero_grad}};

void run_iteration(Engine& engine) {
  engine.backward({});
  engine.clip();
  engine.step();
  engine.zero_grad(true);
}

// A load writes into what is there: replays go on from what was loaded, settings, counters and the
// loss scaler among it.
TEST(Graph, ALoadLeavesItAsItIs) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    MemoryStorage storage;
    Rank rank(context, capturable_config());
    rank.write(0.1F);
    run_iteration(*rank.engine);
    rank.engine->save(storage, "c");
    rank.engine->capture(iteration);
    rank.engine->replay();
    State const straight = state_of(rank);
    rank.engine->replay();
    rank.engine->set_group(1, {.learning_rate = 7});
    rank.engine->set_loss_scale({.kind = LossScale::Kind::fixed, .value = 4});
    auto const addresses = addresses_of(rank);
    rank.engine->load(storage, "c");
    EXPECT_TRUE(rank.engine->has_graph());
    EXPECT_EQ(addresses_of(rank), addresses);
    EXPECT_EQ(rank.engine->step_count(1), 1);
    rank.engine->replay();
    EXPECT_EQ(state_of(rank), straight);
    EXPECT_EQ(rank.engine->step_count(1), 2);
  });
}

/// Gradients that lie on the device, so that replays take them as they are then.
class GivenGradients final : public GradientSource {
 public:
  GivenGradients() { stream_.synchronize(); }  // the memory is there for every stream
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors)
      ADAMANT_TRY(cudaMemcpyAsync(tensor.gradient, values_.as<void>(),
                                  static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                  cudaMemcpyDeviceToDevice, request.stream));
  }
  void fill(int byte, cudaStream_t stream) {
    ADAMANT_TRY(cudaMemsetAsync(values_.as<void>(), byte, values_.bytes(), stream));
  }

 private:
  Ledger ledger_;
  Stream stream_;
  DeviceBuffer values_{ledger_, Purpose::reduction, std::size_t{32} * 32 * sizeof(float), stream_};
};

// Of those that were skipped the host hears when somebody asks, whatever was captured since.
TEST(Graph, CountsTheStepsThatTheDeviceDidNotSkip) {
  ADAMANT_NEEDS(1, Devices::own);
  constexpr int not_a_number = 0xff;
  for (StepCounter const counter : {StepCounter::group, StepCounter::parameter})
    run_ranks(1, Devices::own, [&](RankContext const& context) {
      MemoryStorage storage;
      GivenGradients source;
      EngineConfig config = capturable_config();
      config.step_counter = counter;
      Rank rank(context, config, &source);
      cudaStream_t const compute = rank.engine->streams().front().stream;
      auto const replay = [&](int gradients, int times) {
        source.fill(gradients, compute);
        for (int i = 0; i < times; ++i) rank.engine->replay();
      };
      rank.write(0.1F);
      rank.engine->capture(iteration);
      EXPECT_EQ(rank.engine->step_count_view(1).on_device, nullptr);
      replay(0, 2);
      replay(not_a_number, 3);
      rank.engine->capture(iteration);
      EXPECT_NE(rank.engine->step_count_view(1).on_device, nullptr);
      EXPECT_EQ(rank.engine->step_count(1), 2);
      EXPECT_EQ(rank.engine->step_count_view(1).on_device, nullptr);
      EXPECT_EQ(rank.engine->step_count_view(1).count, 2);
      replay(not_a_number, 1);
      replay(0, 1);
      rank.engine->save(storage, "c");
      rank.engine->load(storage, "c");
      EXPECT_EQ(rank.engine->step_count_view(1).count, 3);
      run_iteration(*rank.engine);
      EXPECT_EQ(rank.engine->step_count(1), 4);
    });
}

// The device is behind by then, on a GPU and in some schedule of the simulator.
TEST(Graph, NeitherReplaysNorStepsWaitUnderALossScale) {
  ADAMANT_NEEDS(1, Devices::own);
  int busy_after_replays = 0;
  int busy_after_step = 0;
  run_ranks(1, Devices::own, [&](RankContext const& context) {
    Rank rank(context, capturable_config());
    cudaStream_t const compute = rank.engine->streams().front().stream;
    auto const busy = [&] { return cudaStreamQuery(compute) == cudaErrorNotReady ? 1 : 0; };
    rank.write(0.1F);
    rank.engine->capture(iteration);
    rank.engine->synchronize();
    for (int i = 0; i < 50; ++i) rank.engine->replay();
    busy_after_replays += busy();
    rank.engine->synchronize();
    for (int i = 0; i < 50; ++i) rank.engine->step();
    busy_after_step += busy();
    EXPECT_EQ(rank.engine->step_count(0), 100);
  });
  EXPECT_GT(busy_after_replays, 0);
  EXPECT_GT(busy_after_step, 0);
}

// Gradients are dropped on the device, too.
TEST(Graph, AStepAfterALoadHasNoGradients) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    MemoryStorage storage;
    Rank rank(context, capturable_config());
    rank.write(0.1F);
    run_iteration(*rank.engine);
    rank.engine->save(storage, "c");
    State const saved = state_of(rank);
    rank.engine->backward({});
    rank.engine->load(storage, "c");
    rank.engine->step();
    EXPECT_EQ(state_of(rank), saved);
    EXPECT_EQ(rank.engine->step_count(0), 2);
  });
}

}  // namespace
}  // namespace adamant::real
