// All ranks of a world on GPUs, at rest: shards are copied to the host when somebody looks at them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/engines/world_of_ranks.h"

namespace adamant::scenarios {

class CudaWorld final : public WorldOfRanks {
 public:
  /// With the device of each rank.
  CudaWorld(Mesh const& mesh, CheckpointFiles const& files, std::vector<int> devices)
      : WorldOfRanks(mesh, files), devices_(std::move(devices)) {}

  int device(int rank) const { return devices_[static_cast<std::size_t>(rank)]; }
  /// Forgets what was copied.
  void look_anew() override {
    copies_.clear();
    scales_.clear();
    quantised_.clear();
  }

  Shard shard(int rank, int parameter, TensorKind kind) const override;
  void const* address(int rank, int parameter, TensorKind kind) const override {
    return address_of(at(rank).engine().shard(at(rank).place_of(parameter), kind));
  }
  RankScaling scaling(int rank) const override;
  std::vector<NamedBuffer> buffers(int rank) const override {
    return named_buffers(at(rank).engine());
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return std::nullopt; }
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;

 private:
  /// Errors of these: std::runtime_error with CUDA's name of the error.
  std::vector<std::byte> shown(int rank, real::ShardView const& view) const;
  std::vector<std::byte> copied(int rank, real::ShardView const& view) const;
  std::shared_ptr<QuantisedShard const> quantised(int rank, int parameter,
                                                  real::ShardView const& view) const;
  float scale(int rank, float const* address) const;
  void copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const;

  std::vector<int> devices_;
  mutable std::map<std::tuple<int, int, TensorKind>, std::vector<std::byte>> copies_;
  mutable std::map<std::pair<int, float const*>, float> scales_;  // by rank and address
  mutable std::map<std::pair<int, int>, std::shared_ptr<QuantisedShard const>> quantised_;
};

}  // namespace adamant::scenarios
