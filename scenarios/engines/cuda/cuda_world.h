// All ranks of a world on GPUs, at rest: shards are copied to the host when somebody looks at them.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "scenarios/engines/world_of_ranks.h"

namespace adamant::scenarios {

class CudaWorld final : public WorldOfRanks {
 public:
  /// With the device of each rank.
  CudaWorld(Size const& size, CheckpointFiles const& files, std::vector<int> devices)
      : WorldOfRanks(size, files), devices_(std::move(devices)) {}

  int device(int rank) const { return devices_[static_cast<std::size_t>(rank)]; }

  void const* address(int rank, int parameter, TensorKind kind) const override {
    return address_of(at(rank).engine().shard(at(rank).place_of(parameter), kind));
  }
  std::vector<NamedBuffer> buffers(int rank) const override {
    return named_buffers(at(rank).engine());
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override { return std::nullopt; }

 private:
  /// Errors: std::runtime_error with CUDA's name of the error.
  void copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const override;
  bool reads_devices() const override { return false; }

  std::vector<int> devices_;
};

}  // namespace adamant::scenarios
