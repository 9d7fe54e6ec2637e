#include "scenarios/bench/checkpoint_worlds.h"

#include <algorithm>

#include "scenarios/engines/door.h"
#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

/// Calls body(rank, id) on every rank of a simulated world whose accesses nobody checks.
template <typename Body>
void on_ranks(int ranks, Body const& body) {
  sim::Options options;
  options.checked = false;
  ncclUniqueId id = {};
  sim::run(
      ranks,
      [&](int rank) {
        sim::meet([&] { id = adamant_engine_unchecked()->make_nccl_id(); });
        body(rank, id);
      },
      options);
}

class KeptWorld final : public CheckpointWorld {
 public:
  KeptWorld(std::span<ParameterSpec const> parameters, int ranks) : parameters_(parameters) {
    for (int rank = 0; rank < ranks; ++rank)
      ranks_.emplace_back(parameters, real::RankOfWorld{.rank = rank, .world_size = ranks});
  }

  void run(std::function<void(KeptState&, bool)> const& body) override {
    auto const ranks = static_cast<int>(ranks_.size());
    on_ranks(ranks, [&](int rank, ncclUniqueId const& id) {
      KeptRank const kept{.where = {.rank = rank, .world_size = ranks},
                          .parameters = parameters_,
                          .id = id,
                          .memory = ranks_[static_cast<std::size_t>(rank)].bytes().data()};
      std::unique_ptr<KeptState> const state(adamant_bench_keep(&kept));
      body(*state, rank == 0);
      sim::meet();
    });
  }
  Memory memory() override {
    Memory memory;
    for (RankMemory& rank : ranks_) memory.push_back(rank.bytes());
    return memory;
  }
  std::vector<StatePart> parts() override {
    std::vector<StatePart> parts;
    for (RankMemory const& rank : ranks_)
      parts.insert(parts.end(), rank.parts().begin(), rank.parts().end());
    return parts;
  }

 private:
  std::span<ParameterSpec const> parameters_;
  std::vector<RankMemory> ranks_;
};

class NoGradients final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const&) override {}
};

class StateOfEngine final : public KeptState {
 public:
  explicit StateOfEngine(real::Engine& engine) : engine_(engine) {}
  void save(real::Storage& storage, std::string const& directory) override {
    engine_.save(storage, directory);
  }
  void load(real::Storage& storage, std::string const& directory) override {
    engine_.load(storage, directory);
  }
  std::size_t peak_bytes() const override { return engine_.peak_bytes(Purpose::checkpoint); }

 private:
  real::Engine& engine_;
};

class WorldOfDevices final : public CheckpointWorld {
 public:
  WorldOfDevices(std::span<ParameterSpec const> parameters, int ranks)
      : parameters_(parameters), engines_(static_cast<std::size_t>(ranks)) {}

  void run(std::function<void(KeptState&, bool)> const& body) override {
    NoGradients gradients;
    auto const ranks = static_cast<int>(engines_.size());
    on_ranks(ranks, [&](int rank, ncclUniqueId const& id) {
      real::EngineConfig config;
      config.rank = rank;
      config.mesh = {.shards = ranks};
      config.device = rank;
      config.parameters.assign(parameters_.begin(), parameters_.end());
      config.groups = {AdamConfig()};
      config.nccl_id = id;
      auto& engine = engines_[static_cast<std::size_t>(rank)];
      engine = adamant_engine_unchecked()->make_engine(config, gradients);
      engine->synchronize();
      sim::meet();
      StateOfEngine state(*engine);
      body(state, rank == 0);
      sim::meet();
      engine.reset();
    });
  }
  Memory memory() override {
    constexpr Purpose purposes[] = {Purpose::parameters, Purpose::exp_avg, Purpose::exp_avg_sq};
    Memory memory;
    for (auto const& engine : engines_)
      for (real::Buffer const& buffer : engine->buffers())
        if (std::ranges::count(purposes, buffer.purpose) > 0)
          memory.push_back(
              {static_cast<std::byte*>(const_cast<void*>(buffer.address)), buffer.bytes});
    return memory;
  }
  std::vector<StatePart> parts() override {
    std::vector<StatePart> parts;
    for (auto const& engine : engines_) {
      std::size_t tensor = 0;
      for (int p = 0; p < std::ssize(parameters_); ++p) {
        for (TensorKind const kind : state_kinds) {
          real::ShardView const view = engine->shard(p, kind);
          auto* words = static_cast<std::uint32_t*>(view.data);
          for (ElementRange const range : view.ranges) {
            parts.push_back({.tensor = tensor, .elements = range, .words = words});
            words += range.numel();
          }
          ++tensor;
        }
      }
    }
    return parts;
  }

 private:
  std::span<ParameterSpec const> parameters_;
  std::vector<std::unique_ptr<real::Engine>> engines_;  // by rank
};

}  // namespace

std::unique_ptr<CheckpointWorld> make_kept_world(std::span<ParameterSpec const> parameters,
                                                 int ranks) {
  return std::make_unique<KeptWorld>(parameters, ranks);
}

std::unique_ptr<CheckpointWorld> make_world_of_devices(std::span<ParameterSpec const> parameters,
                                                       int ranks) {
  return std::make_unique<WorldOfDevices>(parameters, ranks);
}

}  // namespace adamant::scenarios
