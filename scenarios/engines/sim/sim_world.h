// A simulated world between two operations, as the observers of a run see it: device memory is this
// process' own, and settled.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "scenarios/engines/world_of_ranks.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class SimWorld final : public WorldOfRanks {
 public:
  struct Size {
    Mesh mesh = {};
    std::size_t parameters = 0;
    bool has_rooms = false;  // see needs_room()
  };
  SimWorld(Size const& size, CheckpointFiles const& files)
      : WorldOfRanks(size.mesh, files),
        parameters_(size.parameters),
        buffers_(static_cast<std::size_t>(size.mesh.rank_count())),
        shards_(buffers_.size() * parameters_ * tensor_kind_count),
        rooms_(size.has_rooms ? shards_.size() : 0) {}

  Shard shard(int rank, int parameter, TensorKind kind) const override;
  // Of the device where it lies there: asking the engine would be a call of some rank.
  std::int64_t step_count(int rank, int parameter) const override {
    auto const view = at(rank).engine().step_count_view(at(rank).place_of(parameter));
    return view.on_device != nullptr ? *view.on_device : view.count;
  }
  RankScaling scaling(int rank) const override {
    real::ScalingView const view = at(rank).engine().scaling();
    return scaling_of(view, view.state == nullptr ? real::ScalingState() : *view.state);
  }
  std::vector<NamedBuffer> buffers(int rank) const override {
    return buffers_[static_cast<std::size_t>(rank)];
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override;
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;

  void look_anew() override { std::fill(shards_.begin(), shards_.end(), std::nullopt); }

  /// Asks a rank's engine for its buffers; until the rank goes on, buffers() tells them. Returns
  /// those that were not there when it was asked last.
  std::vector<NamedBuffer> note_buffers(int rank);

 private:
  std::size_t parameters_;
  std::vector<std::vector<NamedBuffer>> buffers_;  // by rank
  // Several judges ask for each shard; here as in rooms_ by rank, parameter and kind.
  mutable std::vector<std::optional<Shard>> shards_;
  mutable std::vector<std::vector<std::byte>> rooms_;  // by rank, parameter and kind
};

/// Every live allocation of the world that runs now.
std::vector<WorldAllocation> live_allocations();
/// The same of handles, by kind.
std::vector<LiveHandles> live_handles();

}  // namespace adamant::scenarios
