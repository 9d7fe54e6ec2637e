// Quantised parameters, seen through the door: the same codes and scales in every world, wherever
// states are and whoever steps them, and none that change without a step.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "real/engine.h"
#include "real/testing/quantised_world.h"

namespace adamant::real {
namespace {

using Format = NumberFormat;

ParameterSpec quantised(char const* name, std::vector<std::int64_t> shape, Recipe recipe, int unit,
                        int group = 0) {
  return {.name = name,
          .shape = std::move(shape),
          .group = group,
          .unit = unit,
          .formats = {.main = Format::fp32, .recipe = recipe}};
}

// Every recipe, beside others in one unit and group. Worlds of 3 and 5 cut blocks, and leave ranks
// without rows.
std::vector<ParameterSpec> parameters() {
  std::vector<ParameterSpec> specs = {
      quantised("delayed", {4, 5}, Recipe::fp8_delayed, 0),
      {.name = "plain", .shape = {3}, .formats = {.parameter = Format::bf16}},
      quantised("current", {3, 2, 4}, Recipe::fp8_current, 0, 1),
      quantised("block", {128, 128}, Recipe::fp8_block, 1),
      {.name = "none", .shape = {0, 4}, .unit = 1},
      quantised("mx", {32, 32}, Recipe::mxfp8, 2),
      {.name = "mixed",
       .shape = {5, 3},
       .group = 1,
       .unit = 2,
       .formats = {.parameter = Format::bf16, .exp_avg = Format::fp8, .main = Format::fp32}},
      quantised("nv", {32, 32}, Recipe::nvfp4, 2, 1)};
  specs[0].formats.gradient = Format::bf16;
  specs[5].formats.gradient = Format::bf16;
  specs[5].formats.decoupled_gradient = false;
  specs[7].formats.exp_avg_sq = Format::fp8;
  return specs;
}

EngineConfig config_of(std::vector<ParameterSpec> const& specs) {
  EngineConfig config;
  config.parameters = specs;
  config.groups = {{.learning_rate = 0.1F, .weight_decay = 0.1F},
                   {.mode = AdamMode::adam, .learning_rate = 0.03F, .weight_decay = 0.1F}};
  return config;
}

Quantised quantised_of(Rank const& rank) {
  Quantised parts;
  read_quantised(rank, parts);
  return parts;
}

/// Also brings the gathered parameters of one backward to the host.
class Gathering final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    copied_.backward(request);
    for (WholeTensor const& tensor : request.tensors) {
      if (!tensor.quantised || !keeps) continue;
      EXPECT_EQ(tensor.value, nullptr);
      EXPECT_EQ(tensor.quantised->begin, 0);
      whole.try_emplace(tensor.parameter, *tensor.quantised, tensor.numel, request.stream);
    }
  }

  bool keeps = false;
  Quantised whole;

 private:
  CopiedGradients copied_;
};

/// What is left of training.
struct Trained {
  State state;                           // what is not quantised
  std::map<int, QuantisedOnHost> whole;  // of all ranks together
  bool ranks_agree = true;               // on the scales of whole tensors

  friend bool operator==(Trained const&, Trained const&) = default;
};

void train_once(Rank& rank, std::span<int const> without = {}) {
  rank.engine->backward(without);
  rank.engine->step();
  rank.engine->zero_grad(true);
}

/// With a step in which some have no gradient, and one without any.
void train(Rank& rank) {
  rank.write_varied();
  train_once(rank);
  train_once(rank);
  int const without[] = {0, 1, 3, 7};
  train_once(rank, without);
  rank.engine->step();
  train_once(rank);
}

Trained joined(std::vector<Quantised> const& of_rank, State state) {
  Trained all{.state = std::move(state), .whole = of_rank.front()};
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank)
    for (auto const& [p, part] : of_rank[rank]) {
      all.ranks_agree = all.ranks_agree && part.has_scales_of(all.whole.at(p));
      all.whole.at(p).append(part);
    }
  return all;
}

Trained trained(int ranks, EngineConfig const& config) {
  std::vector<Quantised> of_rank(static_cast<std::size_t>(ranks));
  State state = in_world(ranks, config, [&](Rank& rank) {
    train(rank);
    read_quantised(rank, of_rank[static_cast<std::size_t>(rank.number)]);
  });
  return joined(of_rank, std::move(state));
}

TEST(QuantisedEngine, HasTheBitsOfOneRankInEveryWorld) {
  ADAMANT_NEEDS(5, Devices::shared);
  EngineConfig const config = config_of(parameters());
  Trained const alone = trained(1, config);
  for (int const ranks : {2, 3, 5}) {
    Trained const shared = trained(ranks, config);
    EXPECT_TRUE(shared.ranks_agree) << ranks;
    EXPECT_EQ(shared.state, alone.state) << ranks;
    EXPECT_EQ(shared.whole, alone.whole) << ranks;
  }
}

// And no host waits between their steps: the second may not overwrite what the first still reads.
TEST(QuantisedEngine, RanksWithoutElementsTakePart) {
  ADAMANT_NEEDS(3, Devices::shared);
  EngineConfig const config = config_of({quantised("w", {2, 4}, Recipe::fp8_delayed, 0)});
  auto const after = [&](int ranks) {
    std::vector<Quantised> of_rank(static_cast<std::size_t>(ranks));
    State state = in_world(ranks, config, [&](Rank& rank) {
      rank.write(0.1F);
      rank.train(3);
      read_quantised(rank, of_rank[static_cast<std::size_t>(rank.number)]);
    });
    return joined(of_rank, std::move(state));
  };
  Trained const shared = after(3);
  EXPECT_TRUE(shared.ranks_agree);
  EXPECT_EQ(shared.whole, after(1).whole);
}

TEST(QuantisedEngine, KeepsWrittenValuesInTheMainWeight) {
  ADAMANT_NEEDS(2, Devices::shared);
  in_world(2, config_of(parameters()), [](Rank& rank) {
    rank.write(0.1F);
    for (int const p : {0, 2, 3, 5, 7}) {
      ElementRange const own = rank.engine->shard(p, TensorKind::main).ranges.front();
      std::vector<float> values;
      for (std::int64_t i = own.begin; i < own.end; ++i)
        values.push_back(0.1F * static_cast<float>(i % 11) + 0.3F);
      EXPECT_EQ(rank.read(p, TensorKind::main), encoded(values, Format::fp32)) << p;
    }
  });
}

TEST(QuantisedEngine, NoBitDependsOnWhereStatesAreOrWhoStepsThem) {
  ADAMANT_NEEDS(3, Devices::shared);
  EngineConfig const config = config_of(parameters());
  Trained const plain = trained(3, config);
  for (StateOffloadConfig const leaves :
       {StateOffloadConfig{}, StateOffloadConfig{.moments = false}}) {
    EngineConfig leaving = config;
    leaving.state_offload = leaves;
    EXPECT_EQ(trained(3, leaving), plain);
  }
  for (double const fraction : {0.0, 0.1, 0.6, 1.0}) {
    EngineConfig hybrid = config;
    hybrid.hybrid = HybridConfig{
        .fraction = fraction, .overlap = fraction != 0.1, .pin_parameters = fraction != 0.6};
    hybrid.hybrid_grain = {.window_numel = 1000, .chunk_numel = 100};
    EXPECT_EQ(trained(3, hybrid), plain) << fraction;
  }
}

TEST(QuantisedEngine, LeavesOnRequest) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::vector<Quantised> of_rank(2);
  EngineConfig const config = config_of(parameters());
  State state = in_world(2, config, [&](Rank& rank) {
    rank.engine->offload();
    train(rank);
    rank.engine->offload();
    read_quantised(rank, of_rank[static_cast<std::size_t>(rank.number)]);
  });
  EXPECT_EQ(joined(of_rank, std::move(state)), trained(2, config));
}

TEST(QuantisedEngine, GathersWhatAllRanksHave) {
  ADAMANT_NEEDS(3, Devices::shared);
  std::vector<Quantised> of_rank(3);
  std::vector<Quantised> gathered(3);
  EngineConfig config = config_of(parameters());
  config.mesh = {.shards = 3};
  config.microbatches = 3;  // so that every rank has one
  for (bool const capturable : {false, true}) {
    config.exchange = make_loopback_exchange(3);
    config.capturable = capturable;
    config.keep_cast_grad = capturable;
    run_ranks(3, Devices::shared, [&](RankContext const& context) {
      auto const number = static_cast<std::size_t>(context.rank);
      Gathering source;
      Rank rank(context, config, &source);
      rank.write_varied();
      rank.train(2);
      read_quantised(rank, of_rank[number]);
      source.keeps = true;
      rank.engine->backward({});
      rank.engine->synchronize();
      gathered[number] = source.whole;
    });
    Trained const all = joined(of_rank, {});
    for (Quantised const& whole : gathered) EXPECT_EQ(whole, all.whole);
  }
}

// Their histories do not move on either: what comes after is as if nothing had been.
TEST(QuantisedEngine, KeepsWhatHasNoGradient) {
  ADAMANT_NEEDS(2, Devices::shared);
  std::vector<int> all(parameters().size());
  std::iota(all.begin(), all.end(), 0);
  for (bool const capturable : {false, true}) {
    EngineConfig config = config_of(parameters());
    config.capturable = capturable;
    config.keep_cast_grad = capturable;
    config.step_counter = StepCounter::parameter;
    in_world(2, config, [&](Rank& rank) {
      rank.write(0.1F);
      train_once(rank);
      Quantised const before = quantised_of(rank);
      train_once(rank, all);
      EXPECT_EQ(quantised_of(rank), before);
      int const without[] = {0, 2, 3, 5, 7};
      train_once(rank, without);
      EXPECT_EQ(quantised_of(rank), before);
      train_once(rank);
      Quantised const after = quantised_of(rank);
      for (auto const& [p, part] : after)
        EXPECT_EQ(part.codes == before.at(p).codes, part.codes.empty()) << p;
    });
  }
}

/// Copied gradients, of which some are NaN where it is asked for.
class Overflowing final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    copied_.backward(request);
    if (!overflows) return;
    for (WholeTensor const& tensor : request.tensors)
      if (tensor.gradient != nullptr)
        ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0xff, 4, request.stream));
  }
  bool overflows = false;

 private:
  CopiedGradients copied_;
};

TEST(QuantisedEngine, KeepsAllInASkippedStep) {
  ADAMANT_NEEDS(2, Devices::own);
  for (bool const capturable : {false, true})
    run_ranks(2, Devices::own, [&](RankContext const& context) {
      EngineConfig config = config_of(parameters());
      config.mesh = {.shards = 2};
      config.capturable = capturable;
      config.keep_cast_grad = capturable;
      config.loss_scale = {.kind = LossScale::Kind::fixed, .value = 2.0F};
      Overflowing source;
      Rank rank(context, config, &source);
      rank.write(0.1F);
      rank.train(1);
      Quantised const before = quantised_of(rank);
      source.overflows = true;
      rank.train(1);
      EXPECT_EQ(quantised_of(rank), before);
      source.overflows = false;
      rank.train(1);
      EXPECT_NE(quantised_of(rank), before);
    });
}

TEST(QuantisedEngine, ReplaysDoWhatEagerStepsDo) {
  ADAMANT_NEEDS(3, Devices::own);
  auto const after = [](bool captured) {
    std::vector<std::pair<State, Quantised>> of_rank(3);
    run_ranks(3, Devices::own, [&](RankContext const& context) {
      EngineConfig config = config_of(parameters());
      config.mesh = {.shards = 3};
      config.capturable = true;
      config.keep_cast_grad = true;
      config.max_norm = 5.0F;
      Rank rank(context, config);
      rank.write(0.1F);
      rank.train(1);
      Verb const iteration[] = {{.kind = Verb::Kind::backward, .without = {3, 5}},
                                {.kind = Verb::Kind::clip},
                                {.kind = Verb::Kind::step},
                                {.kind = Verb::Kind::zero_grad},
                                {.kind = Verb::Kind::backward},
                                {.kind = Verb::Kind::step},
                                {.kind = Verb::Kind::zero_grad}};
      if (captured) rank.engine->capture(iteration);
      for (int i = 0; i < 2; ++i) {
        if (captured) {
          rank.engine->replay();
          continue;
        }
        int const without[] = {3, 5};
        rank.engine->backward(without);
        rank.engine->clip();
        rank.engine->step();
        rank.engine->zero_grad(true);
        rank.train(1);
      }
      auto& [state, parts] = of_rank[static_cast<std::size_t>(context.rank)];
      state = state_of(rank);
      read_quantised(rank, parts);
    });
    return of_rank;
  };
  EXPECT_EQ(after(true), after(false));
}

// ---- memory -------------------------------------------------------------------------------------

std::size_t bytes_of(Engine const& engine, Purpose purpose, bool on_host = false) {
  std::size_t bytes = 0;
  for (Buffer const& buffer : engine.buffers())
    if (buffer.purpose == purpose && buffer.on_host == on_host) bytes += buffer.bytes;
  return bytes;
}

struct Bytes {
  std::size_t codes = 0;
  std::size_t scales = 0;
  std::size_t gathered = 0;

  friend bool operator==(Bytes const&, Bytes const&) = default;
};

/// On the first of three ranks.
Bytes bytes_with(ParameterSpec const& spec, std::optional<HybridConfig> const& hybrid = {}) {
  EngineConfig config = config_of({spec});
  config.hybrid = hybrid;
  Bytes bytes;
  in_world(3, config, [&](Rank& rank) {
    rank.train(1);
    if (rank.number != 0) return;
    bytes = {.codes = bytes_of(*rank.engine, Purpose::parameters),
             .scales = bytes_of(*rank.engine, Purpose::parameter_scales),
             .gathered = rank.engine->peak_bytes(Purpose::unsharded_parameters)};
  });
  return bytes;
}

TEST(QuantisedEngine, TakesTheMemoryThatIsWrittenDown) {
  ADAMANT_NEEDS(3, Devices::shared);
  auto const with = [](std::vector<std::int64_t> shape, Recipe recipe) {
    return bytes_with(quantised("w", std::move(shape), recipe, 0));
  };
  EXPECT_EQ(with({5, 3}, Recipe::fp8_delayed), (Bytes{16, 2 * 16 + 16 + 80, 32}));
  EXPECT_EQ(with({7, 5}, Recipe::fp8_current), (Bytes{16, 2 * 16 + 16, 48}));
  EXPECT_EQ(with({256, 128}, Recipe::fp8_block), (Bytes{11008, 2 * 16 + 16, 33024}));
  EXPECT_EQ(with({32, 32}, Recipe::mxfp8), (Bytes{352 + 16, 0, 1056 + 48}));
  EXPECT_EQ(with({48, 32}, Recipe::nvfp4), (Bytes{256, 2 * 32 + 16 + 16, 768}));
  EXPECT_EQ(bytes_with({.name = "w", .shape = {4}}), (Bytes{16, 0, 32}));
}

TEST(QuantisedEngine, TakesAPieceOfWeightsWhereTheCpuStepsSome) {
  ADAMANT_NEEDS(3, Devices::shared);
  ParameterSpec const spec = quantised("w", {5, 3}, Recipe::fp8_current, 0);
  EXPECT_EQ(bytes_with(spec, HybridConfig{.fraction = 0}).scales, 48U);
  EXPECT_EQ(bytes_with(spec, HybridConfig{.fraction = 0.1}).scales, 48U + 32);  // 6 numbers
  EXPECT_EQ(bytes_with(spec, HybridConfig{.fraction = 1}).scales, 48U + 32);
}

}  // namespace
}  // namespace adamant::real
