// A small engine on every rank of a world, and all of its state as bytes: for tests of checkpoints,
// which care for bits and not for what they mean.
#pragma once

#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/engine.h"
#include "real/testing/ranks.h"

namespace adamant::real {

/// Gradients that depend on parameter and element alone, copied from the host.
class CopiedGradients final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors) {
      if (tensor.gradient == nullptr) continue;
      std::vector<float> values(static_cast<std::size_t>(tensor.numel));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((static_cast<std::size_t>(tensor.parameter) + i) % 9) - 4;
      auto const& bytes = in_flight_.emplace_back(encoded(values, tensor.gradient_format));
      if (!bytes.empty())
        ADAMANT_TRY(cudaMemcpyAsync(tensor.gradient, bytes.data(), bytes.size(),
                                    cudaMemcpyHostToDevice, request.stream));
    }
  }

 private:
  std::list<std::vector<std::byte>> in_flight_;
};

/// One rank under test.
struct Rank {
  /// With `other` gradients than copied ones, where they are given.
  Rank(RankContext const& context, EngineConfig config, GradientSource* other = nullptr)
      : number(context.rank), parameters(config.parameters) {
    config.rank = context.rank;
    config.device = context.device;
    config.transport = config.exchange != nullptr ? Transport::loopback : Transport::nccl;
    config.rendezvous = &context.rendezvous;
    config.nccl_id = context.nccl_id;
    engine = make_engine(config, other != nullptr ? *other : source);
  }

  void write(float scale) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      std::vector<float> values(static_cast<std::size_t>(parameters[p].numel()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = scale * static_cast<float>(i % 11) + 0.3F;
      engine->write_parameter(static_cast<int>(p), values);
    }
  }

  /// Values whose magnitudes are others from part to part, so that no two blocks are alike.
  void write_varied() {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      std::vector<float> values(static_cast<std::size_t>(parameters[p].numel()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = (static_cast<float>(i % 11) + 0.3F) * static_cast<float>(1U << (i / 37 % 9));
      engine->write_parameter(static_cast<int>(p), values);
    }
  }

  void train(int steps) {
    for (int s = 0; s < steps; ++s) {
      engine->backward({});
      engine->step();
      engine->zero_grad(true);
    }
  }

  /// The bytes of this rank's rows.
  std::vector<std::byte> read(int parameter, TensorKind kind) const {
    engine->synchronize();
    ShardView const view = engine->shard(parameter, kind);
    std::size_t const tail = static_cast<std::size_t>(view.tail_numel) * bytes_of(view.format);
    std::vector<std::byte> bytes(static_cast<std::size_t>(view.numel) * bytes_of(view.format));
    if (view.data == nullptr && view.tail == nullptr) return {};
    std::size_t const head = bytes.size() - tail;
    if (view.on_host)
      std::memcpy(bytes.data(), view.data, head);
    else if (head > 0)
      ADAMANT_TRY(cudaMemcpyAsync(bytes.data(), view.data, head, cudaMemcpyDeviceToHost,
                                  engine->streams().front().stream));
    if (tail > 0) std::memcpy(bytes.data() + head, view.tail, tail);
    engine->synchronize();
    return bytes;
  }

  int number;
  std::vector<ParameterSpec> parameters;
  CopiedGradients source;
  std::unique_ptr<Engine> engine;
};

/// Whole tensors and counters, as all ranks of a world have them together.
using State = std::vector<std::vector<std::byte>>;

inline State state_of(std::vector<State> const& of_rank) {
  State whole = of_rank.front();
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank)
    for (std::size_t t = 0; t < whole.size(); ++t)
      whole[t].insert(whole[t].end(), of_rank[rank][t].begin(), of_rank[rank][t].end());
  return whole;
}

inline State state_of(Rank const& rank) {
  State state;
  for (int p = 0; p < static_cast<int>(rank.parameters.size()); ++p)
    for (TensorKind const kind :
         {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq, TensorKind::main})
      state.push_back(rank.read(p, kind));
  return state;
}

/// Runs the body on every rank of a world; what its engines hold at the end.
inline State in_world(int ranks, EngineConfig config, std::function<void(Rank&)> const& body) {
  config.mesh = {.shards = ranks};
  config.exchange = make_loopback_exchange(ranks);
  std::vector<State> of_rank(static_cast<std::size_t>(ranks));
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    Rank rank(context, config);
    rank.write(0.5F + static_cast<float>(ranks));  // unlike any other world's
    body(rank);
    of_rank[static_cast<std::size_t>(context.rank)] = state_of(rank);
  });
  return state_of(of_rank);
}

}  // namespace adamant::real
