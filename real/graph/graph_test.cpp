#include "real/graph/graph.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "real/cuda/error.h"
#include "real/engine.h"
#include "real/shard/memory.h"
#include "real/testing/ranks.h"

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
    for (WholeTensor const& tensor : request.tensors)
      ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0,
                                  static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                  request.stream));
  }
  int calls = 0;
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

}  // namespace
}  // namespace adamant::real
