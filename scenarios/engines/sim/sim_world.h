// A simulated world between two operations, as the observers of a run see it: device memory is this
// process' own, and settled.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "scenarios/engines/world_of_ranks.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class SimWorld final : public WorldOfRanks {
 public:
  SimWorld(Size const& size, CheckpointFiles const& files)
      : WorldOfRanks(size, files), buffers_(static_cast<std::size_t>(size.mesh.rank_count())) {}

  // Of the device where it lies there: asking the engine would be a call of some rank.
  std::int64_t step_count(int rank, int parameter) const override {
    auto const view = at(rank).engine().step_count_view(at(rank).place_of(parameter));
    return view.on_device != nullptr ? *view.on_device : view.count;
  }
  std::vector<NamedBuffer> buffers(int rank) const override {
    return buffers_[static_cast<std::size_t>(rank)];
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override;

  /// Asks a rank's engine for its buffers; until the rank goes on, buffers() tells them. Returns
  /// those that were not there when it was asked last.
  std::vector<NamedBuffer> note_buffers(int rank);

 private:
  void copy_to_host(int, void* to, void const* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  bool reads_devices() const override { return true; }

  std::vector<std::vector<NamedBuffer>> buffers_;  // by rank
};

/// Every live allocation of the world that runs now.
std::vector<WorldAllocation> live_allocations();
/// The same of handles, by kind.
std::vector<LiveHandles> live_handles();

}  // namespace adamant::scenarios
