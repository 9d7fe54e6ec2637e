#include "real/engine.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;
using Bytes = std::vector<std::byte>;

/// Multiples of 1/8 that depend on parameter, element and microbatch, never on the world.
float gradient_value(int parameter, std::int64_t i, int microbatch) {
  std::int64_t const mixed = parameter * 7 + i * 5 + microbatch * 11;
  return static_cast<float>(mixed % 17 - 8) / 8;
}

/// Fills gradients by copies from the host, the sum of this rank's microbatches so far.
class CopiedGradients final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    if (!request.accumulate) so_far_.clear();
    so_far_.push_back(request.microbatch);
    for (WholeTensor const& tensor : request.tensors)
      if (tensor.gradient != nullptr) copy(tensor, request.stream);
  }

 private:
  void copy(WholeTensor const& tensor, cudaStream_t stream) {
    Values values(static_cast<std::size_t>(tensor.numel), 0.0F);
    for (int const microbatch : so_far_)
      for (std::int64_t i = 0; i < tensor.numel; ++i)
        values[static_cast<std::size_t>(i)] += gradient_value(tensor.parameter, i, microbatch);
    Bytes const& bytes = in_flight_.emplace_back(encoded(values, tensor.gradient_format));
    ADAMANT_TRY(cudaMemcpyAsync(tensor.gradient, bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                                stream));
  }

  std::vector<int> so_far_;
  std::list<Bytes> in_flight_;  // sources of copies that may not have run yet
};

// Shorter than the world, prime, without rows, with a group that small worlds spread thinly.
std::vector<ParameterSpec> parameters() {
  return {{.name = "embed", .shape = {7, 3}, .group = 0, .unit = 0},
          {.name = "none", .shape = {0, 4}, .group = 0, .unit = 0},
          {.name = "one", .shape = {1}, .group = 1, .unit = 1},
          {.name = "mid", .shape = {5, 2, 2}, .group = 0, .unit = 1},
          {.name = "head", .shape = {13}, .group = 1, .unit = 2}};
}

// A main weight with a cast gradient, a gradient that is cast down, moments in bf16.
std::vector<ParameterSpec> mixed_parameters() {
  std::vector<ParameterSpec> mixed = parameters();
  mixed[0].formats = {.parameter = NumberFormat::bf16,
                      .gradient = NumberFormat::bf16,
                      .main = NumberFormat::fp32,
                      .decoupled_gradient = false};
  mixed[2].formats = {.parameter = NumberFormat::fp16, .decoupled_gradient = false};
  mixed[3].formats = {.gradient = NumberFormat::fp16,
                      .exp_avg = NumberFormat::bf16,
                      .exp_avg_sq = NumberFormat::bf16};
  return mixed;
}

std::vector<AdamConfig> groups() {
  return {{.mode = AdamMode::adamw, .weight_decay = 0.1F},
          {.mode = AdamMode::adam, .learning_rate = 0.01F, .weight_decay = 0.05F}};
}

/// What a test changes of the configuration.
using Change = std::function<void(EngineConfig&)>;

/// One rank under test.
struct Rank {
  Rank(RankContext const& context, int ranks, std::shared_ptr<LoopbackExchange> exchange,
       std::vector<ParameterSpec> const& specs = parameters(), Change const& change = {}) {
    EngineConfig config;
    config.rank = context.rank;
    config.mesh = {.shards = ranks};
    config.device = context.device;
    config.parameters = specs;
    config.groups = groups();
    config.microbatches = 3;
    config.nccl_id = context.nccl_id;
    if (exchange != nullptr) {
      config.transport = Transport::loopback;
      config.rendezvous = &context.rendezvous;
      config.exchange = std::move(exchange);
    }
    if (change) change(config);
    engine = make_engine(config, source);
    for (int p = 0; p < static_cast<int>(config.parameters.size()); ++p) {
      Values values(
          static_cast<std::size_t>(config.parameters[static_cast<std::size_t>(p)].numel()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = gradient_value(p, static_cast<std::int64_t>(i), 99);
      engine->write_parameter(p, values);
    }
  }

  /// This rank's rows of a tensor as they are stored when everything is done.
  Bytes bytes(int parameter, TensorKind kind) {
    engine->synchronize();
    ShardView const view = engine->shard(parameter, kind);
    if (view.data == nullptr) return {};
    std::size_t const tail = static_cast<std::size_t>(view.tail_numel) * bytes_of(view.format);
    Bytes result(static_cast<std::size_t>(view.numel) * bytes_of(view.format));
    std::size_t const head = result.size() - tail;
    auto const kind_of_copy = view.on_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    ADAMANT_TRY(cudaMemcpy(result.data(), view.data, head, kind_of_copy));
    if (tail > 0) std::memcpy(result.data() + head, view.tail, tail);
    return result;
  }

  /// The same of a tensor in fp32.
  Values read(int parameter, TensorKind kind) {
    engine->synchronize();
    ShardView const view = engine->shard(parameter, kind);
    if (view.data == nullptr) return {};
    return download(view.data, view.numel, engine->streams().front().stream);
  }

  CopiedGradients source;
  std::unique_ptr<Engine> engine;
};

void train(Engine& engine) {
  int const without[] = {3};
  engine.backward({});
  engine.step();
  engine.zero_grad(true);
  engine.backward(without);
  engine.backward({});
  engine.step();
  engine.zero_grad(false);
  engine.step();
}

/// All tensors after `train` in a world of that many ranks, rank after rank.
using Final = std::vector<Bytes>;

Final train_world(int ranks, Devices devices, std::vector<ParameterSpec> const& specs,
                  Change const& change = {}) {
  std::vector<Final> of_rank(static_cast<std::size_t>(ranks));
  auto const exchange = devices == Devices::shared ? make_loopback_exchange(ranks) : nullptr;
  run_ranks(ranks, devices, [&](RankContext const& context) {
    Rank rank(context, ranks, exchange, specs, change);
    train(*rank.engine);
    Final& mine = of_rank[static_cast<std::size_t>(context.rank)];
    mine.clear();
    for (int p = 0; p < 5; ++p)
      for (TensorKind const kind : all_tensor_kinds) mine.push_back(rank.bytes(p, kind));
  });
  Final all = of_rank.front();
  for (std::size_t r = 1; r < of_rank.size(); ++r)
    for (std::size_t t = 0; t < all.size(); ++t)
      all[t].insert(all[t].end(), of_rank[r][t].begin(), of_rank[r][t].end());
  return all;
}

void expect_bits_of_plain(Change const& change, std::string const& what) {
  for (auto const& specs : {parameters(), mixed_parameters()})
    EXPECT_EQ(train_world(2, Devices::shared, specs),
              train_world(2, Devices::shared, specs, change))
        << what;
}

TEST(EngineOffload, OfStatesChangesNoBit) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (bool const moments : {true, false})
    expect_bits_of_plain(
        [&](EngineConfig& config) {
          config.state_offload = StateOffloadConfig{.moments = moments};
        },
        moments ? "all states away" : "main weights away");
}

TEST(EngineOffload, OfAnyPartOfTheStepChangesNoBit) {
  ADAMANT_NEEDS(2, Devices::shared);
  for (double const fraction : {0.0, 0.3, 1.0})
    for (bool const overlap : {true, false})
      for (bool const pinned : {true, false})
        expect_bits_of_plain(
            [&](EngineConfig& config) {
              config.hybrid = HybridConfig{.fraction = fraction,
                                           .overlap = overlap,
                                           .pin_gradients = pinned,
                                           .pin_parameters = pinned};
              config.hybrid_grain = {.window_numel = 6, .chunk_numel = 2};
            },
            "fraction " + std::to_string(fraction));
}

class EngineWorlds : public testing::TestWithParam<std::pair<int, Devices>> {};

void expect_bits_of_one_rank(int ranks, Devices devices, std::vector<ParameterSpec> const& specs) {
  Final const alone = train_world(1, Devices::own, specs);
  Final const shared = train_world(ranks, devices, specs);
  ASSERT_EQ(alone.size(), shared.size());
  for (std::size_t t = 0; t < alone.size(); ++t)
    EXPECT_TRUE(alone[t] == shared[t]) << "tensor " << t;
}

TEST_P(EngineWorlds, EndWithTheBitsOfOneRank) {
  auto const [ranks, devices] = GetParam();
  ADAMANT_NEEDS(ranks, devices);
  expect_bits_of_one_rank(ranks, devices, parameters());
}

TEST_P(EngineWorlds, EndWithTheBitsOfOneRankInMixedFormats) {
  auto const [ranks, devices] = GetParam();
  ADAMANT_NEEDS(ranks, devices);
  expect_bits_of_one_rank(ranks, devices, mixed_parameters());
}

INSTANTIATE_TEST_SUITE_P(Sizes, EngineWorlds,
                         testing::Values(std::pair{2, Devices::shared},
                                         std::pair{3, Devices::shared},
                                         std::pair{8, Devices::shared}, std::pair{1, Devices::own},
                                         std::pair{2, Devices::own}, std::pair{4, Devices::own}),
                         [](auto const& world) {
                           std::string const sharing =
                               world.param.second == Devices::shared ? "Loopback" : "Nccl";
                           return sharing + std::to_string(world.param.first);
                         });

/// Runs the body on a world of one rank.
void alone(std::function<void(Rank&)> const& body) {
  run_ranks(1, Devices::own, [&](RankContext const& context) {
    Rank rank(context, 1, nullptr);
    body(rank);
  });
}

TEST(Engine, TheGradientIsTheMeanOverAllMicrobatches) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    rank.engine->backward({});
    Values const gradient = rank.read(4, TensorKind::gradient);
    for (std::int64_t i = 0; i < 13; ++i) {
      float const sum = gradient_value(4, i, 0) + gradient_value(4, i, 1) + gradient_value(4, i, 2);
      EXPECT_EQ(gradient[static_cast<std::size_t>(i)], sum / 3);
    }
  });
}

ScalingState scaling_of(Rank& rank) {
  ScalingState state;
  cudaStream_t const stream = rank.engine->streams().front().stream;
  ADAMANT_TRY(cudaMemcpyAsync(&state, rank.engine->scaling().state, sizeof state,
                              cudaMemcpyDeviceToHost, stream));
  ADAMANT_TRY(cudaStreamSynchronize(stream));
  return state;
}

/// The norm that every rank finds when all clip under a loss scale that their gradients lack.
std::vector<float> norms_found(int ranks) {
  std::vector<float> norms(static_cast<std::size_t>(ranks));
  auto const exchange = make_loopback_exchange(ranks);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    Rank rank(context, ranks, exchange);
    rank.engine->set_loss_scale({.kind = LossScale::Kind::fixed, .value = 4.0F});
    rank.engine->backward({});
    rank.engine->set_max_norm(0.25F);
    rank.engine->clip();
    rank.engine->step();
    ScalingState const state = scaling_of(rank);
    EXPECT_EQ(state.overflowed, 0);
    EXPECT_EQ(state.applied, 0.25F);
    norms[static_cast<std::size_t>(context.rank)] = state.norm;
  });
  return norms;
}

TEST(Engine, TheNormHasTheSameBitsOnEveryRankOfEveryWorld) {
  ADAMANT_NEEDS(4, Devices::shared);
  float const alone = norms_found(1).front();
  EXPECT_GT(alone, 0.0F);
  for (int const ranks : {2, 3, 4})
    EXPECT_EQ(norms_found(ranks), Values(static_cast<std::size_t>(ranks), alone));
}

TEST(Engine, BuffersOfScalingComeWithItsFirstUse) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    std::size_t const without = rank.engine->buffers().size();
    EXPECT_EQ(rank.engine->scaling().state, nullptr);
    rank.engine->set_loss_scale({});
    EXPECT_EQ(rank.engine->buffers().size(), without);
    rank.engine->set_max_norm({});
    EXPECT_EQ(rank.engine->buffers().size(), without);
    rank.engine->set_max_norm(1.0F);
    EXPECT_EQ(rank.engine->buffers().size(), without + 2);
    rank.engine->set_loss_scale({.kind = LossScale::Kind::dynamic});
    EXPECT_EQ(rank.engine->buffers().size(), without + 2);
  });
}

TEST(Engine, AStepWithoutGradientsMovesCountersOnly) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    Values const before = rank.read(0, TensorKind::parameter);
    rank.engine->step();
    EXPECT_EQ(rank.read(0, TensorKind::parameter), before);
    EXPECT_EQ(rank.engine->step_count(0), 1);
  });
}

TEST(Engine, ParametersWithoutGradientKeepTheirValues) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    Values const before = rank.read(3, TensorKind::parameter);
    int const without[] = {3};
    rank.engine->backward(without);
    EXPECT_FALSE(rank.engine->has_gradient(3));
    rank.engine->step();
    EXPECT_EQ(rank.read(3, TensorKind::parameter), before);
    EXPECT_EQ(rank.read(3, TensorKind::exp_avg), Values(20, 0.0F));
  });
}

TEST(Engine, ZeroGradWithoutSetToNoneKeepsTheAddress) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    rank.engine->backward({});
    void const* const address = rank.engine->shard(4, TensorKind::gradient).data;
    rank.engine->zero_grad(false);
    EXPECT_EQ(rank.engine->shard(4, TensorKind::gradient).data, address);
    EXPECT_EQ(rank.read(4, TensorKind::gradient), Values(13, 0.0F));
  });
}

TEST(Engine, ZeroGradGivesTheMemoryBack) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    std::size_t const at_rest = rank.engine->buffers().size();
    rank.engine->backward({});
    EXPECT_EQ(rank.engine->buffers().size(), at_rest + 1);
    rank.engine->zero_grad(true);
    EXPECT_EQ(rank.engine->buffers().size(), at_rest);
    EXPECT_EQ(rank.engine->shard(4, TensorKind::gradient).data, nullptr);
  });
}

TEST(Engine, CastCopiesComeAndGoWithTheGradients) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const& context) {
    Rank rank(context, 1, nullptr, mixed_parameters());
    std::size_t const at_rest = rank.engine->buffers().size();
    rank.engine->backward({});
    EXPECT_EQ(rank.engine->buffers().size(), at_rest + 2);  // gradients, and their copies
    ShardView const copy = rank.engine->shard(0, TensorKind::cast_gradient);
    EXPECT_EQ(copy.format, NumberFormat::fp32);
    Values const handed = rank.read(0, TensorKind::cast_gradient);
    EXPECT_EQ(encoded(handed, NumberFormat::bf16), rank.bytes(0, TensorKind::gradient));
    EXPECT_EQ(rank.engine->shard(4, TensorKind::cast_gradient).data, nullptr);  // a view
    rank.engine->zero_grad(false);
    EXPECT_EQ(rank.engine->shard(0, TensorKind::cast_gradient).data, copy.data);
    EXPECT_EQ(rank.read(0, TensorKind::cast_gradient), Values(21, 0.0F));
    rank.engine->zero_grad(true);
    EXPECT_EQ(rank.engine->buffers().size(), at_rest);
  });
}

TEST(Engine, UnitsAreWholeTwoAtATime) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    rank.engine->backward({});
    // 7 x 3 and nothing; 1 and 20; 13 elements: each rounded up to 4.
    EXPECT_EQ(rank.engine->peak_bytes(Purpose::unsharded_parameters), 4U * (24 + 4 + 20));
    EXPECT_EQ(rank.engine->peak_bytes(Purpose::unsharded_gradients), 4U * 24);
    EXPECT_EQ(rank.engine->peak_bytes(Purpose::reduction), 4U * 24);
  });
}

TEST(Engine, ANewLearningRateIsUsedFromTheNextStepOn) {
  ADAMANT_NEEDS(1, Devices::own);
  alone([](Rank& rank) {
    AdamConfig frozen = groups()[0];
    frozen.learning_rate = 0;
    rank.engine->set_group(0, frozen);
    Values const before = rank.read(0, TensorKind::parameter);
    rank.engine->backward({});
    rank.engine->step();
    EXPECT_EQ(rank.read(0, TensorKind::parameter), before);
    EXPECT_NE(rank.read(4, TensorKind::exp_avg), Values(13, 0.0F));
  });
}

}  // namespace
}  // namespace adamant::real
