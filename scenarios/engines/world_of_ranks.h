// All ranks of a world in this process, as the observers of a run see them between two operations:
// what each engine says of itself. How bytes come from its device is for whoever derives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scenarios/engines/checkpoint_files.h"
#include "scenarios/engines/rank_engine.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

/// May a shard of such formats lie in several places of an engine, or be kept otherwise than it is
/// shown?
bool needs_room(Scenario const& setting);

/// Where an engine keeps a shard.
void const* address_of(real::ShardView const& view);

class WorldOfRanks : public WorldView {
 public:
  struct Size {
    Mesh mesh = {};
    std::size_t parameters = 0;
    bool has_rooms = false;  // where devices cannot be read, and where needs_room()
  };
  /// REQUIRES: `files` outlives it.
  WorldOfRanks(Size const& size, CheckpointFiles const& files)
      : mesh_(size.mesh),
        parameters_(size.parameters),
        ranks_(static_cast<std::size_t>(mesh_.rank_count())),
        files_(files),
        shards_(ranks_.size() * parameters_ * tensor_kind_count),
        rooms_(size.has_rooms ? shards_.size() : 0) {}

  std::unique_ptr<RankEngine>& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
  /// The ranks have gone on since anything was asked: forgets what engines said.
  void look_anew() { std::fill(shards_.begin(), shards_.end(), std::nullopt); }

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
  std::size_t peak_bytes(int rank, Purpose purpose) const override {
    return at(rank).engine().peak_bytes(purpose);
  }
  LiveBytes peaks(int rank, Purpose purpose) const override {
    return peaks_of(at(rank).engine(), purpose);
  }
  RankScaling scaling(int rank) const override;
  std::optional<std::uint64_t> gathered_fingerprint(int rank, int parameter) const override;
  std::vector<StoredFile> checkpoint(std::string_view name) const override {
    return files_.files_of(name);
  }

  /// What a run led to: every rank's parameters, bit for bit but for NaNs, of which one is as good
  /// as another.
  std::uint64_t fold(std::size_t parameters) const;

 protected:
  RankEngine& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

 private:
  /// From what a rank's engine keeps on its device.
  virtual void copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const = 0;
  /// Can this process read it where it is?
  virtual bool reads_devices() const = 0;
  Shard read(int rank, real::ShardView const& view, std::vector<std::byte>& room) const;
  std::span<std::byte const> bytes_of_view(int rank, real::ShardView const& view,
                                           std::vector<std::byte>& room) const;

  Mesh mesh_;
  std::size_t parameters_;
  std::vector<std::unique_ptr<RankEngine>> ranks_;
  CheckpointFiles const& files_;
  // Several judges ask for each shard; both by rank, parameter and kind.
  mutable std::vector<std::optional<Shard>> shards_;
  mutable std::vector<std::vector<std::byte>> rooms_;
};

}  // namespace adamant::scenarios
