// All ranks of a world in this process, as the observers of a run see them between two operations:
// what each engine says of itself. Where the bytes of its shards are is for whoever derives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "scenarios/engines/checkpoint_files.h"
#include "scenarios/engines/rank_engine.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

class WorldOfRanks : public WorldView {
 public:
  /// REQUIRES: `files` outlives it.
  WorldOfRanks(Mesh const& mesh, CheckpointFiles const& files)
      : mesh_(mesh), ranks_(static_cast<std::size_t>(mesh.rank_count())), files_(files) {}

  std::unique_ptr<RankEngine>& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
  /// The ranks have gone on since anything was asked: forgets what engines said.
  virtual void look_anew() = 0;

  int rank_count() const override { return mesh_.rank_count(); }
  int shard_count() const override { return mesh_.shards; }
  int holder_count(TensorKind kind) const override {
    return kind == TensorKind::parameter ? mesh_.shards : mesh_.state_shards();
  }
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
  std::vector<StoredFile> checkpoint(std::string_view name) const override {
    return files_.files_of(name);
  }

  /// What a run led to: every rank's parameters, bit for bit but for NaNs, of which one is as good
  /// as another.
  std::uint64_t fold(std::size_t parameters) const;

 protected:
  RankEngine& at(int rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

 private:
  Mesh mesh_;
  std::vector<std::unique_ptr<RankEngine>> ranks_;
  CheckpointFiles const& files_;
};

}  // namespace adamant::scenarios
