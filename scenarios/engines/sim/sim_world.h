// A simulated world between two operations, as the observers of a run see it: device memory is this
// process' own, and settled.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/engines/rank_engine.h"
#include "scenarios/engines/sim/sim_files.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class SimWorld final : public WorldView {
 public:
  struct Size {
    Mesh mesh = {};
    std::size_t parameters = 0;
    bool has_rooms = false;  // see needs_room()
  };
  SimWorld(Size const& size, SimFiles const& files)
      : parameters_(size.parameters),
        mesh_(size.mesh),
        ranks_(static_cast<std::size_t>(size.mesh.rank_count())),
        buffers_(ranks_.size()),
        shards_(ranks_.size() * parameters_ * tensor_kind_count),
        rooms_(size.has_rooms ? shards_.size() : 0),
        files_(files) {}

  std::unique_ptr<RankEngine>& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }

  int rank_count() const override { return mesh_.rank_count(); }
  int shard_count() const override { return mesh_.shards; }
  int holder_count(TensorKind kind) const override {
    return kind == TensorKind::parameter ? mesh_.shards : mesh_.state_shards();
  }
  Shard shard(int rank, int parameter, TensorKind kind) const override;
  bool has_gradient(int rank, int parameter) const override {
    return at(rank).engine().has_gradient(at(rank).place_of(parameter));
  }
  std::int64_t step_count(int rank, int parameter) const override {
    return at(rank).engine().step_count(at(rank).place_of(parameter));
  }
  AdamConfig group(int rank, int group) const override { return at(rank).engine().group(group); }
  RankScaling scaling(int rank) const override {
    real::ScalingView const view = at(rank).engine().scaling();
    return scaling_of(view, view.state == nullptr ? real::ScalingState() : *view.state);
  }
  std::vector<NamedBuffer> buffers(int rank) const override {
    return buffers_[static_cast<std::size_t>(rank)];
  }
  std::size_t peak_bytes(int rank, Purpose purpose) const override {
    return at(rank).engine().peak_bytes(purpose);
  }
  LiveBytes peaks(int rank, Purpose purpose) const override {
    return peaks_of(at(rank).engine(), purpose);
  }
  std::optional<std::vector<WorldAllocation>> allocations() const override;
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;
  std::vector<StoredFile> checkpoint(std::string_view name) const override {
    return files_.files_of(name);
  }

  /// The ranks have gone on since anything was asked: forgets what engines said of their shards.
  void look_anew() { std::fill(shards_.begin(), shards_.end(), std::nullopt); }

  /// Asks a rank's engine for its buffers; until the rank goes on, buffers() tells them. Returns
  /// those that were not there when it was asked last.
  std::vector<NamedBuffer> note_buffers(int rank);

  /// What a run led to, for its digest: every rank's parameters, bit for bit but for NaNs, of which
  /// one is as good as another.
  std::uint64_t fold(std::size_t parameters) const;

 private:
  RankEngine& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

  std::size_t parameters_;
  Mesh mesh_;
  std::vector<std::unique_ptr<RankEngine>> ranks_;
  std::vector<std::vector<NamedBuffer>> buffers_;  // by rank
  // Several judges ask for each shard; here as in rooms_ by rank, parameter and kind.
  mutable std::vector<std::optional<Shard>> shards_;
  mutable std::vector<std::vector<std::byte>> rooms_;  // by rank, parameter and kind
  SimFiles const& files_;
};

/// Every live allocation of the world that runs now.
std::vector<WorldAllocation> live_allocations();
/// The same of handles, by kind.
std::vector<LiveHandles> live_handles();

}  // namespace adamant::scenarios
