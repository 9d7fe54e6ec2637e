// The engine's quantised parameters against the oracle's, step by step: in every world their codes,
// scales and histories are those that the oracle makes of the main weights in one piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "oracle/quantise/recipes.h"
#include "real/cuda/numbers.h"
#include "real/testing/quantised_on_host.h"
#include "real/testing/small_world.h"

namespace adamant::properties {
namespace {

using oracle::MatrixShape;
using real::QuantisedOnHost;
using real::Rank;
using Values = std::vector<float>;

constexpr int weight = 1;  // between two others in its unit and group

std::vector<ParameterSpec> parameters(Recipe recipe, std::vector<std::int64_t> shape) {
  Formats const narrow = {.parameter = NumberFormat::bf16, .main = NumberFormat::fp32};
  return {
      {.name = "before", .shape = {5, 3}, .formats = narrow},
      {.name = "w",
       .shape = std::move(shape),
       .formats = {.gradient = NumberFormat::bf16, .main = NumberFormat::fp32, .recipe = recipe}},
      {.name = "after", .shape = {7}, .formats = {.parameter = NumberFormat::bf16}}};
}

/// Gradients that grow and shrink from step to step. Keeps what was gathered.
class Gradients final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const& request) override {
    for (real::WholeTensor const& tensor : request.tensors) {
      if (tensor.quantised) gathered.emplace(*tensor.quantised, tensor.numel, request.stream);
      if (tensor.gradient != nullptr) fill(tensor, request.stream);
    }
    ++backwards_;
  }

  std::optional<QuantisedOnHost> gathered;

 private:
  void fill(real::WholeTensor const& tensor, cudaStream_t stream) {
    Values values;
    for (std::int64_t i = 0; i < tensor.numel; ++i)
      values.push_back(std::ldexp(static_cast<float>((i * 5 + backwards_ * 7) % 17 - 8),
                                  backwards_ * 5 % 9 - 4));
    auto const& bytes = in_flight_.emplace_back(real::encoded(values, tensor.gradient_format));
    ADAMANT_TRY(cudaMemcpyAsync(tensor.gradient, bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                                stream));
  }

  std::int64_t backwards_ = 0;
  std::list<std::vector<std::byte>> in_flight_;
};

/// One rank after a step.
struct Moment {
  Values main;
  QuantisedOnHost part;
  QuantisedOnHost gathered;  // at the next backward
};

std::vector<float> floats_of(std::vector<std::byte> const& bytes) {
  return real::decoded(bytes, NumberFormat::fp32);
}

// The third step has no gradient of the weight, the fourth none at all.
constexpr int without_gradient[] = {3, 4};

std::vector<Moment> train(real::RankContext const& context, real::EngineConfig const& config,
                          int steps) {
  Gradients source;
  Rank rank(context, config, &source);
  rank.write_varied();
  std::vector<Moment> moments;
  for (int step = 1; step <= steps + 1; ++step) {
    Moment& moment = moments.emplace_back();
    real::ShardView const view = rank.engine->shard(weight, TensorKind::parameter);
    QuantisedOnHost const part(*view.quantised, view.numel, rank.engine->streams().front().stream);
    moment.main = floats_of(rank.read(weight, TensorKind::main));
    moment.part = part;
    int const without[] = {weight};
    rank.engine->backward(step == 3 ? std::span<int const>(without) : std::span<int const>());
    rank.engine->synchronize();
    moment.gathered = *source.gathered;
    if (step != 4) rank.engine->step();
    rank.engine->zero_grad(true);
    if (step == 4) rank.engine->step();
  }
  return moments;
}

/// One code an element.
std::vector<std::uint8_t> unpacked(QuantisedOnHost const& whole, Recipe recipe) {
  if (recipe != Recipe::nvfp4) return whole.codes;
  std::vector<std::uint8_t> codes;
  for (unsigned const byte : whole.codes) {
    codes.push_back(static_cast<std::uint8_t>(byte & 0xfU));
    codes.push_back(static_cast<std::uint8_t>(byte >> 4));
  }
  return codes;
}

void expect_equal(QuantisedOnHost const& whole, oracle::Quantised const& right,
                  oracle::DelayedScale const& delayed, MatrixShape shape, Recipe recipe) {
  EXPECT_EQ(unpacked(whole, recipe), right.codes);
  EXPECT_EQ(whole.scale_codes, right.scale_codes);
  real::QuantisedView const view = whole.view();
  for (std::size_t b = 0; b < right.scales.size(); ++b)
    ASSERT_EQ(real::scale_at(view, static_cast<std::int64_t>(b)), right.scales[b]) << b;
  Values const read = oracle::read(right, shape, recipe);
  for (std::int64_t i = 0; i < shape.numel(); ++i)
    ASSERT_EQ(real::value_at(view, i), read[static_cast<std::size_t>(i)]) << i;
  if (recipe == Recipe::nvfp4) {
    EXPECT_EQ(whole.scales.front(), right.amax);
  }
  if (recipe != Recipe::fp8_delayed) return;
  EXPECT_EQ(whole.delayed.front().next, delayed.next);
  EXPECT_TRUE(std::ranges::equal(whole.delayed.front().history, delayed.history));
}

/// What all ranks have of one step, as one tensor.
Moment joined(std::vector<std::vector<Moment>> const& of_rank, std::size_t step) {
  Moment all = of_rank.front()[step];
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
    Moment const& next = of_rank[rank][step];
    EXPECT_TRUE(next.part.has_scales_of(all.part)) << "rank " << rank;
    EXPECT_EQ(next.gathered, all.gathered) << "rank " << rank;
    all.main.insert(all.main.end(), next.main.begin(), next.main.end());
    all.part.append(next.part);
  }
  return all;
}

std::vector<std::int64_t> shape_of(Recipe recipe) {
  switch (recipe) {
    case Recipe::fp8_block:
      return {256, 128};
    case Recipe::mxfp8:
    case Recipe::nvfp4:
      return {32, 32};
    default:
      return {4, 3, 5};  // a matrix of 12 rows that ranks have by threes
  }
}

class QuantisedEngine : public testing::TestWithParam<Recipe> {};

TEST_P(QuantisedEngine, IsTheOraclesAfterEveryStep) {
  ADAMANT_NEEDS(5, real::Devices::shared);
  Recipe const recipe = GetParam();
  std::vector<std::int64_t> const shape = shape_of(recipe);
  bool const is_delayed = recipe == Recipe::fp8_delayed;
  int const steps = is_delayed ? 20 : 5;  // more than a history has room for
  real::EngineConfig config;
  config.parameters = parameters(recipe, shape);
  config.groups = {{.learning_rate = 0.3F, .weight_decay = 0.1F}};
  MatrixShape const matrix{.rows = config.parameters[weight].numel() / shape.back(),
                           .columns = shape.back()};
  for (int const ranks : {1, 2, 3, 5}) {
    SCOPED_TRACE(ranks);
    config.mesh = {.shards = ranks};
    config.microbatches = ranks;
    config.exchange = real::make_loopback_exchange(ranks);
    std::vector<std::vector<Moment>> of_rank(static_cast<std::size_t>(ranks));
    real::run_ranks(ranks, real::Devices::shared, [&](real::RankContext const& context) {
      of_rank[static_cast<std::size_t>(context.rank)] = train(context, config, steps);
    });
    oracle::DelayedScale delayed;
    oracle::Quantised right;
    for (std::size_t step = 0; step < of_rank.front().size(); ++step) {
      SCOPED_TRACE(step);
      Moment const all = joined(of_rank, step);
      bool const stepped =
          std::ranges::find(without_gradient, static_cast<int>(step)) == std::end(without_gradient);
      if (stepped)
        right = oracle::quantise(all.main, matrix, recipe, is_delayed ? &delayed : nullptr);
      expect_equal(all.part, right, delayed, matrix, recipe);
      expect_equal(all.gathered, right, delayed, matrix, recipe);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryRecipe, QuantisedEngine,
                         testing::Values(Recipe::fp8_delayed, Recipe::fp8_current,
                                         Recipe::fp8_block, Recipe::mxfp8, Recipe::nvfp4),
                         [](auto const& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace adamant::properties
