// Training on any mesh and in any layout leaves the bits that one rank alone leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "real/testing/quantised_on_host.h"
#include "real/testing/small_world.h"

namespace adamant::real {
namespace {

using Bytes = std::vector<std::byte>;

ParameterSpec parameter(std::string name, std::vector<std::int64_t> shape, Formats const& formats,
                        int unit = 0) {
  return {.name = std::move(name), .shape = std::move(shape), .unit = unit, .formats = formats};
}

Formats quantised_by(Recipe recipe) {
  return {.gradient = NumberFormat::bf16, .main = NumberFormat::fp32, .recipe = recipe};
}

/// Of all kinds of formats, in two units; some share a bucket, some rows are odd.
std::vector<ParameterSpec> parameters() {
  Formats const plain;
  Formats const mixed = {.parameter = NumberFormat::bf16,
                         .gradient = NumberFormat::bf16,
                         .exp_avg = NumberFormat::bf16,
                         .main = NumberFormat::fp32,
                         .decoupled_gradient = false};
  Formats const scaled = {.parameter = NumberFormat::bf16,
                          .exp_avg = NumberFormat::fp8,
                          .exp_avg_sq = NumberFormat::fp16,
                          .main = NumberFormat::fp16};
  Formats const halves = {.parameter = NumberFormat::bf16, .main = NumberFormat::remainder};
  return {parameter("a", {5, 3}, plain),
          parameter("b", {4, 4}, plain),
          parameter("c", {0, 3}, plain),
          parameter("d", {7}, mixed),
          parameter("e", {3, 5}, mixed),
          parameter("f", {5, 5}, scaled),
          parameter("g", {9, 2}, halves),
          parameter("h", {6}, halves),
          parameter("i", {1, 2}, plain, 1),
          parameter("j", {3, 7}, quantised_by(Recipe::fp8_delayed), 1),
          parameter("k", {4, 6}, quantised_by(Recipe::fp8_current), 1),
          parameter("l", {32, 64}, quantised_by(Recipe::mxfp8), 1),
          parameter("m", {32, 32}, quantised_by(Recipe::mxfp8), 1),
          parameter("n", {48, 16}, quantised_by(Recipe::nvfp4), 1)};
}

/// Small whole numbers that depend on parameter, element and microbatch, summed on the host.
class SummedGradients final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors) {
      if (tensor.gradient == nullptr) continue;
      std::vector<float>& sum = sums_[tensor.parameter];
      if (!request.accumulate) sum.assign(static_cast<std::size_t>(tensor.numel), 0.0F);
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] +=
            static_cast<float>(
                (static_cast<std::size_t>(tensor.parameter + 5 * request.microbatch) + i) % 9) -
            4;
      auto const& bytes = in_flight_.emplace_back(encoded(sum, tensor.gradient_format));
      ADAMANT_TRY(cudaMemcpyAsync(tensor.gradient, bytes.data(), bytes.size(),
                                  cudaMemcpyHostToDevice, request.stream));
    }
  }

 private:
  std::map<int, std::vector<float>> sums_;
  std::list<Bytes> in_flight_;
};

EngineConfig config_of(Mesh const& mesh, LayoutKind layout) {
  EngineConfig config;
  config.mesh = mesh;
  config.layout = layout;
  config.parameters = parameters();
  config.groups = {{.weight_decay = 0.1F}};
  config.microbatches = 6;
  config.max_norm = 0.5F;
  return config;
}

/// One rank's elements of a tensor: which, and their bytes.
struct Held {
  ElementRange range;
  Bytes bytes;
};

/// Values of a quantised parameter, as a model reads them.
Bytes quantised_values(Rank const& rank, ShardView const& view) {
  QuantisedOnHost const host(*view.quantised, view.numel, rank.engine->streams().front().stream);
  rank.engine->synchronize();
  QuantisedView const read = host.view();
  std::vector<float> values;
  for (std::int64_t i = 0; i < view.numel; ++i) values.push_back(value_at(read, read.begin + i));
  auto const bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

constexpr TensorKind kinds[] = {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq,
                                TensorKind::main};

std::vector<Held> held_by(Rank const& rank) {
  std::vector<Held> held;
  for (int p = 0; p < static_cast<int>(rank.parameters.size()); ++p)
    for (TensorKind const kind : kinds) {
      ShardView const view = rank.engine->shard(p, kind);
      Bytes const bytes = view.quantised && kind == TensorKind::parameter
                              ? quantised_values(rank, view)
                              : rank.read(p, kind);
      held.push_back({.range = view.ranges.front(), .bytes = bytes});
    }
  return held;
}

/// Puts the ranks' parts together; those that several ranks have must be the same.
std::vector<Bytes> whole_of(std::vector<std::vector<Held>> const& ranks) {
  std::vector<Bytes> whole(ranks.front().size());
  for (auto const& rank : ranks)
    for (std::size_t t = 0; t < rank.size(); ++t) {
      auto const numel = static_cast<std::size_t>(rank[t].range.numel());
      if (numel == 0 || rank[t].bytes.empty()) continue;
      std::size_t const size = rank[t].bytes.size() / numel;
      std::size_t const begin = static_cast<std::size_t>(rank[t].range.begin) * size;
      if (whole[t].size() < begin + rank[t].bytes.size())
        whole[t].resize(begin + rank[t].bytes.size());
      auto const to = whole[t].begin() + static_cast<std::ptrdiff_t>(begin);
      std::copy(rank[t].bytes.begin(), rank[t].bytes.end(), to);
    }
  for (auto const& rank : ranks)
    for (std::size_t t = 0; t < rank.size(); ++t) {
      if (rank[t].bytes.empty()) continue;
      std::size_t const size =
          rank[t].bytes.size() / static_cast<std::size_t>(rank[t].range.numel());
      auto const from = whole[t].begin() + rank[t].range.begin * static_cast<std::ptrdiff_t>(size);
      EXPECT_TRUE(std::equal(rank[t].bytes.begin(), rank[t].bytes.end(), from)) << "tensor " << t;
    }
  return whole;
}

void train(Rank& rank) {
  rank.write_varied();
  for (int step = 0; step < 3; ++step) {
    int const without[] = {1, 8};
    rank.engine->backward(step == 1 ? std::span<int const>(without) : std::span<int const>());
    rank.engine->clip();
    rank.engine->step();
    rank.engine->zero_grad(step != 0);
  }
}

std::vector<Bytes> trained(EngineConfig config, Devices devices) {
  int const ranks = config.mesh.rank_count();
  std::vector<std::vector<Held>> held(static_cast<std::size_t>(ranks));
  config.exchange = devices == Devices::shared ? make_loopback_exchange(ranks) : nullptr;
  run_ranks(ranks, devices, [&](RankContext const& context) {
    SummedGradients gradients;
    Rank rank(context, config, &gradients);
    train(rank);
    held[static_cast<std::size_t>(context.rank)] = held_by(rank);
  });
  return whole_of(held);
}

/// Where two worlds differ, or nothing.
std::string difference(std::vector<Bytes> const& got, std::vector<Bytes> const& expected) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (got[t] == expected[t]) continue;
    auto const [a, b] =
        std::mismatch(got[t].begin(), got[t].end(), expected[t].begin(), expected[t].end());
    return parameters()[t / std::size(kinds)].name + "/" +
           std::string(name_of(kinds[t % std::size(kinds)])) + " from byte " +
           std::to_string(a - got[t].begin()) + " of " + std::to_string(expected[t].size());
  }
  return "";
}

struct Place {
  LayoutKind layout = LayoutKind::fsdp2;
  Mesh mesh = {};

  std::string text() const {
    return "layout " + std::to_string(static_cast<int>(layout)) + ", " +
           std::to_string(mesh.shards) + " x " + std::to_string(mesh.replicas) +
           (mesh.cuts_states_across() ? " across" : "");
  }
};

std::vector<Place> places() {
  std::vector<Place> all;
  for (LayoutKind const layout : {LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed})
    for (Mesh const& mesh :
         {Mesh{.shards = 3}, Mesh{.shards = 1, .replicas = 2}, Mesh{.shards = 2, .replicas = 2},
          Mesh{.shards = 1, .replicas = 3, .outer = Outer::optim},
          Mesh{.shards = 2, .replicas = 2, .outer = Outer::optim}})
      all.push_back({layout, mesh});
  return all;
}

class MeshTest : public testing::TestWithParam<Devices> {
 protected:
  std::vector<Bytes> const& alone() {
    static std::vector<Bytes> const bytes =
        trained(config_of({}, LayoutKind::fsdp2), Devices::shared);
    return bytes;
  }
};

TEST_P(MeshTest, NoBitDependsOnLayoutOrMesh) {
  ADAMANT_NEEDS(4, GetParam());
  for (Place const& place : places())
    EXPECT_EQ(difference(trained(config_of(place.mesh, place.layout), GetParam()), alone()), "")
        << place.text();
}

TEST_P(MeshTest, NorOnWhereStatesAre) {
  ADAMANT_NEEDS(4, GetParam());
  for (Place const& place : places()) {
    EngineConfig config = config_of(place.mesh, place.layout);
    config.state_offload.emplace();
    EXPECT_EQ(difference(trained(config, GetParam()), alone()), "") << place.text();
    config.state_offload.reset();
    config.hybrid = HybridConfig{.fraction = 0.4};
    config.hybrid_grain = {.window_numel = 64, .chunk_numel = 16};
    EXPECT_EQ(difference(trained(config, GetParam()), alone()), "") << place.text();
  }
}

TEST_P(MeshTest, NorOnTablesOfTheDevice) {
  ADAMANT_NEEDS(4, GetParam());
  for (Place const& place : places()) {
    EngineConfig config = config_of(place.mesh, place.layout);
    config.capturable = true;
    config.keep_cast_grad = true;
    EXPECT_EQ(difference(trained(config, GetParam()), alone()), "") << place.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, MeshTest, testing::Values(Devices::shared, Devices::own),
                         [](auto const& tested) {
                           return tested.param == Devices::shared ? "Loopback" : "Nccl";
                         });

}  // namespace
}  // namespace adamant::real
