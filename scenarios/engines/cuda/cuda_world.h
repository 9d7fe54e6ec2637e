// All ranks of a world on GPUs, at rest: shards are copied to the host when somebody looks at them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/engines/rank_engine.h"

namespace adamant::scenarios {

class CudaWorld final : public WorldView {
 public:
  /// With the device of each rank.
  CudaWorld(Mesh const& mesh, std::vector<int> devices)
      : mesh_(mesh), devices_(std::move(devices)), ranks_(devices_.size()) {}

  std::unique_ptr<RankEngine>& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
  int device(int rank) const { return devices_[static_cast<std::size_t>(rank)]; }
  /// Forgets what was copied; due after each operation.
  void changed() {
    copies_.clear();
    scales_.clear();
    quantised_.clear();
  }

  int rank_count() const override { return static_cast<int>(ranks_.size()); }
  int shard_count() const override { return mesh_.shards; }
  int holder_count(TensorKind kind) const override {
    return kind == TensorKind::parameter ? mesh_.shards : mesh_.state_shards();
  }
  Shard shard(int rank, int parameter, TensorKind kind) const override;
  void const* address(int rank, int parameter, TensorKind kind) const override {
    return address_of(at(rank).engine().shard(at(rank).place_of(parameter), kind));
  }
  bool has_gradient(int rank, int parameter) const override {
    return at(rank).engine().has_gradient(at(rank).place_of(parameter));
  }
  std::int64_t step_count(int rank, int parameter) const override {
    return at(rank).engine().step_count(at(rank).place_of(parameter));
  }
  AdamConfig group(int rank, int group) const override { return at(rank).engine().group(group); }
  RankScaling scaling(int rank) const override;
  std::vector<NamedBuffer> buffers(int rank) const override {
    return named_buffers(at(rank).engine());
  }
  std::size_t peak_bytes(int rank, Purpose purpose) const override {
    return at(rank).engine().peak_bytes(purpose);
  }
  LiveBytes peaks(int rank, Purpose purpose) const override {
    return peaks_of(at(rank).engine(), purpose);
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return std::nullopt; }
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;
  std::vector<StoredFile> checkpoint(std::string_view) const override { return {}; }

 private:
  RankEngine& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }
  /// Errors of these: std::runtime_error with CUDA's name of the error.
  std::vector<std::byte> shown(int rank, real::ShardView const& view) const;
  std::vector<std::byte> copied(int rank, real::ShardView const& view) const;
  std::shared_ptr<QuantisedShard const> quantised(int rank, int parameter,
                                                  real::ShardView const& view) const;
  float scale(int rank, float const* address) const;
  void copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const;

  Mesh mesh_;
  std::vector<int> devices_;
  std::vector<std::unique_ptr<RankEngine>> ranks_;
  mutable std::map<std::tuple<int, int, TensorKind>, std::vector<std::byte>> copies_;
  mutable std::map<std::pair<int, float const*>, float> scales_;  // by rank and address
  mutable std::map<std::pair<int, int>, std::shared_ptr<QuantisedShard const>> quantised_;
};

}  // namespace adamant::scenarios
