// States in every format, seen through the door: scales that no world changes or that are each
// rank's own, weights in two halves, and that CPU, host memory and graphs leave the same bits.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/engine.h"
#include "real/testing/small_world.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;
using Format = NumberFormat;

// Longer and shorter than small worlds, and without rows; both modes; an unscaled one between.
std::vector<ParameterSpec> parameters(StateScale shares = StateScale::global) {
  return {{.name = "a",
           .shape = {7, 3},
           .formats = {.parameter = Format::bf16,
                       .exp_avg = Format::fp8,
                       .exp_avg_sq = Format::fp16,
                       .main = Format::fp16,
                       .state_scale = shares}},
          {.name = "none",
           .shape = {0, 4},
           .formats = {.exp_avg = Format::fp16, .state_scale = shares}},
          {.name = "plain", .shape = {4}},
          {.name = "b",
           .shape = {5},
           .group = 1,
           .unit = 1,
           .formats = {.parameter = Format::bf16,
                       .exp_avg = Format::fp16,
                       .exp_avg_sq = Format::fp8,
                       .main = Format::remainder,
                       .state_scale = shares}},
          {.name = "c",
           .shape = {3},
           .group = 1,
           .unit = 1,
           .formats = {.parameter = Format::fp16,
                       .exp_avg = Format::bf16,
                       .exp_avg_sq = Format::fp16,
                       .main = Format::bf16,
                       .state_scale = shares}},
          {.name = "one",
           .shape = {1},
           .unit = 2,
           .formats = {.exp_avg = Format::fp8, .state_scale = shares}}};
}

EngineConfig config_of(std::vector<ParameterSpec> const& specs) {
  EngineConfig config;
  config.parameters = specs;
  config.groups = {{.weight_decay = 0.1F},
                   {.mode = AdamMode::adam, .learning_rate = 0.1F, .weight_decay = 0.1F}};
  return config;
}

/// A state's scale as this rank has it now; 1 where it has none.
float scale_of(Rank const& rank, int parameter, TensorKind kind) {
  float const* const scale = rank.engine->shard(parameter, kind).scale;
  rank.engine->synchronize();
  return scale == nullptr ? 1.0F
                          : download(scale, 1, rank.engine->streams().front().stream).front();
}

constexpr TensorKind states[] = {TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq};

Values scales_of(Rank const& rank) {
  Values scales;
  for (int p = 0; p < static_cast<int>(rank.parameters.size()); ++p)
    for (TensorKind const kind : states) scales.push_back(scale_of(rank, p, kind));
  return scales;
}

/// With a step in which one parameter has no gradient, and one without any.
void train(Rank& rank) {
  rank.write(0.1F);
  rank.train(2);
  int const without[] = {3};
  rank.engine->backward(without);
  rank.engine->step();
  rank.engine->zero_grad(true);
  rank.engine->step();
  rank.train(1);
}

/// What is left of training, and the scales of each rank.
struct Trained {
  State state;
  std::vector<Values> scales;

  friend bool operator==(Trained const&, Trained const&) = default;
};

Trained trained(int ranks, EngineConfig const& config) {
  Trained result;
  result.scales.resize(static_cast<std::size_t>(ranks));
  result.state = in_world(ranks, config, [&](Rank& rank) {
    train(rank);
    result.scales[static_cast<std::size_t>(rank.number)] = scales_of(rank);
  });
  return result;
}

TEST(StateFormats, GlobalScalesAreThoseOfOneRankInEveryWorld) {
  ADAMANT_NEEDS(4, Devices::shared);
  EngineConfig const config = config_of(parameters());
  Trained const alone = trained(1, config);
  EXPECT_NE(alone.scales[0], Values(alone.scales[0].size(), 1.0F));
  for (int const ranks : {2, 3, 4}) {
    Trained const shared = trained(ranks, config);
    EXPECT_EQ(shared.state, alone.state) << ranks;
    EXPECT_EQ(shared.scales, std::vector<Values>(static_cast<std::size_t>(ranks), alone.scales[0]));
  }
}

TEST(StateFormats, NoBitDependsOnWhereStatesAreOrWhoStepsThem) {
  ADAMANT_NEEDS(3, Devices::shared);
  for (StateScale const shares : {StateScale::global, StateScale::local}) {
    EngineConfig const config = config_of(parameters(shares));
    Trained const plain = trained(3, config);
    EngineConfig leaving = config;
    leaving.state_offload = StateOffloadConfig{};
    EXPECT_EQ(trained(3, leaving), plain);
    for (double const fraction : {0.0, 0.4, 1.0})
      for (bool const overlap : {true, false}) {
        EngineConfig hybrid = config;
        hybrid.hybrid = HybridConfig{.fraction = fraction, .overlap = overlap};
        hybrid.hybrid_grain = {.window_numel = 3, .chunk_numel = 1};
        EXPECT_EQ(trained(3, hybrid), plain) << fraction << overlap;
      }
  }
}

/// The first moment after the first step is fl(fl(1 - beta1) g).
Values first_moments(std::int64_t begin, std::int64_t end) {
  Values moments;
  for (std::int64_t i = begin; i < end; ++i)
    moments.push_back((1.0F - 0.9F) * static_cast<float>(i % 9 - 4));
  return moments;
}

TEST(StateFormats, AScaleIsOfWhatItCoversAndDividesIt) {
  ADAMANT_NEEDS(4, Devices::shared);
  for (Format const format : {Format::fp8, Format::fp16})
    for (StateScale const shares : {StateScale::global, StateScale::local})
      in_world(
          4,
          config_of(
              {{.name = "w", .shape = {5}, .formats = {.exp_avg = format, .state_scale = shares}}}),
          [&](Rank& rank) {
            rank.train(1);
            ElementRange own = {.begin = 5, .end = 5};
            for (ElementRange const range : rank.engine->shard(0, TensorKind::exp_avg).ranges)
              own = range;
            bool const local = shares == StateScale::local;
            Values const moments = first_moments(own.begin, own.end);
            float const scale = scale_for(amax_of(local ? moments : first_moments(0, 5)), format);
            EXPECT_EQ(scale_of(rank, 0, TensorKind::exp_avg), scale);
            EXPECT_EQ(rank.read(0, TensorKind::exp_avg), encoded(moments, format, scale));
          });
}

TEST(StateFormats, AMainWeightIsWrittenByItsOwnScale) {
  ADAMANT_NEEDS(4, Devices::shared);
  for (StateScale const shares : {StateScale::global, StateScale::local})
    in_world(4,
             config_of({{.name = "w",
                         .shape = {5},
                         .formats = {.parameter = Format::bf16,
                                     .main = Format::fp16,
                                     .state_scale = shares}}}),
             [&](Rank& rank) {
               rank.write(0.1F);
               Values const held = decoded(rank.read(0, TensorKind::parameter), Format::bf16);
               float const last = rounded(Values{0.1F * 4 + 0.3F}, Format::bf16).front();
               bool const local = shares == StateScale::local;
               float const scale = scale_for(local ? amax_of(held) : last, Format::fp16);
               EXPECT_EQ(scale_of(rank, 0, TensorKind::main), scale);
               EXPECT_EQ(rank.read(0, TensorKind::main), encoded(held, Format::fp16, scale));
             });
}

TEST(StateFormats, AWeightInTwoHalvesIsTheSameAsInOne) {
  ADAMANT_NEEDS(3, Devices::shared);
  auto const with_main = [](Format main, std::optional<HybridConfig> const& hybrid) {
    EngineConfig config =
        config_of({{.name = "w",
                    .shape = {4, 3},
                    .formats = {.parameter = Format::bf16, .exp_avg = Format::fp8, .main = main}}});
    config.hybrid = hybrid;
    std::map<int, std::pair<Values, Values>> parameters_and_weights;  // by rank
    in_world(3, config, [&](Rank& rank) {
      rank.write(0.1F);
      rank.train(3);
      Values const parameter = decoded(rank.read(0, TensorKind::parameter), Format::bf16);
      std::vector<std::byte> const stored = rank.read(0, TensorKind::main);
      Values weights;
      for (std::size_t i = 0; i < parameter.size(); ++i) {
        if (main == Format::fp32) {
          weights.push_back(decoded(stored, Format::fp32)[i]);
          continue;
        }
        SplitWeight halves = split(parameter[i]);
        std::memcpy(&halves.remainder, stored.data() + 2 * i, sizeof halves.remainder);
        weights.push_back(joined(halves));
      }
      parameters_and_weights[rank.number] = {parameter, weights};
    });
    return parameters_and_weights;
  };
  auto const whole = with_main(Format::fp32, {});
  for (std::optional<HybridConfig> const& hybrid :
       {std::optional<HybridConfig>(), std::optional(HybridConfig{.fraction = 0.4})}) {
    auto const halves = with_main(Format::remainder, hybrid);
    for (auto const& [rank, values] : whole) {
      EXPECT_EQ(halves.at(rank).second, values.second);
      Values rounded_away;
      for (float const weight : values.second)
        rounded_away.push_back(joined({split(weight).parameter, 0}));
      EXPECT_EQ(halves.at(rank).first, rounded_away);
    }
  }
}

TEST(StateFormats, ScalesAreWhereTheyWereAndAreAllThatThereIs) {
  ADAMANT_NEEDS(2, Devices::shared);
  auto const bytes_of_scales = [](EngineConfig const& config) {
    std::size_t bytes[2] = {};  // on the device and in host memory
    in_world(2, config, [&](Rank& rank) {
      float const* const before = rank.engine->shard(0, TensorKind::exp_avg).scale;
      rank.train(1);
      EXPECT_EQ(rank.engine->shard(0, TensorKind::exp_avg).scale, before);
      EXPECT_EQ(rank.engine->shard(0, TensorKind::parameter).scale, nullptr);
      if (rank.number != 0) return;
      bytes[0] = bytes[1] = 0;
      for (Buffer const& buffer : rank.engine->buffers())
        if (buffer.purpose == Purpose::state_scales) bytes[buffer.on_host ? 1 : 0] += buffer.bytes;
    });
    return std::pair(bytes[0], bytes[1]);
  };
  EngineConfig config = config_of(parameters());
  std::size_t const count = config.parameters.size();
  EXPECT_EQ(bytes_of_scales(config), std::pair(48 * count, std::size_t{0}));
  config.hybrid = HybridConfig{};
  EXPECT_EQ(bytes_of_scales(config), std::pair(48 * count, 36 * count));
  config.parameters = {{.name = "w", .shape = {5}, .formats = {.exp_avg = Format::bf16}}};
  EXPECT_EQ(bytes_of_scales(config), std::pair(std::size_t{0}, std::size_t{0}));
}

/// Gradients of which all bytes are the same: small numbers, or NaNs.
class Filled final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors)
      ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, overflows ? 0xff : 0x3c + request.unit,
                                  static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                  request.stream));
  }
  bool overflows = false;
};

TEST(StateFormats, ASkippedStepKeepsBytesAndScales) {
  ADAMANT_NEEDS(2, Devices::own);
  for (bool const capturable : {false, true})
    run_ranks(2, Devices::own, [&](RankContext const& context) {
      EngineConfig config =
          config_of({{.name = "w", .shape = {8}, .formats = {.exp_avg = Format::fp8}}});
      config.mesh = {.shards = 2};
      config.capturable = capturable;
      config.loss_scale = {.kind = LossScale::Kind::fixed, .value = 2.0F};
      Filled gradients;
      Rank rank(context, config, &gradients);
      auto const train_once = [&](bool overflows) {
        gradients.overflows = overflows;
        rank.train(1);
        return std::pair(state_of(rank), scales_of(rank));
      };
      auto const before = train_once(false);
      EXPECT_EQ(train_once(true), before);
      EXPECT_NE(train_once(false), before);
    });
}

TEST(StateFormats, ReplaysFindNewScalesOnEveryRank) {
  ADAMANT_NEEDS(3, Devices::own);
  auto const states_after = [](bool captured) {
    std::vector<std::pair<State, Values>> of_rank(3);
    run_ranks(3, Devices::own, [&](RankContext const& context) {
      EngineConfig config = config_of(parameters());
      config.mesh = {.shards = 3};
      config.capturable = true;
      Filled gradients;
      Rank rank(context, config, &gradients);
      rank.write(0.1F);
      Verb const iteration[] = {{.kind = Verb::Kind::backward},
                                {.kind = Verb::Kind::step},
                                {.kind = Verb::Kind::zero_grad}};
      rank.train(1);
      if (captured) rank.engine->capture(iteration);
      for (int i = 0; captured && i < 2; ++i) rank.engine->replay();
      if (!captured) rank.train(2);
      of_rank[static_cast<std::size_t>(context.rank)] = {state_of(rank), scales_of(rank)};
    });
    return of_rank;
  };
  EXPECT_EQ(states_after(true), states_after(false));
}

}  // namespace
}  // namespace adamant::real
