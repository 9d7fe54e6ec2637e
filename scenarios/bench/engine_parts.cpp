#include "scenarios/bench/engine_parts.h"

#include <utility>
#include <vector>

#include "real/checkpoint/agreement.h"
#include "real/checkpoint/load.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/reading.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/save.h"
#include "real/checkpoint/transfer.h"
#include "real/comm/nccl_communicator.h"
#include "real/cuda/handles.h"
#include "real/shard/memory.h"

namespace adamant::scenarios {

namespace {

class Kept final : public KeptState {
 public:
  explicit Kept(KeptRank const& rank) : where_(rank.where), communicator_(rank.id, rank.where) {
    for (ParameterSpec const& parameter : rank.parameters)
      ranges_.push_back(kept_range(where_, parameter));
    describe(rank);
  }

  void save(real::Storage& storage, std::string const& directory) override {
    in_place(storage, directory,
             [&](real::CheckpointPlace const& place) { real::save_checkpoint(place, state_); });
  }

  void load(real::Storage& storage, std::string const& directory) override {
    in_place(storage, directory, [&](real::CheckpointPlace const& place) {
      static_cast<void>(real::load_checkpoint(place, state_, {}, [] {}));
    });
  }

  std::size_t peak_bytes() const override { return ledger_.peak_bytes(Purpose::checkpoint); }

 private:
  void describe(KeptRank const& rank) {
    real::SavedGroup group;
    std::byte* data = rank.memory;
    for (std::size_t p = 0; p < rank.parameters.size(); ++p) {
      ParameterSpec const& parameter = rank.parameters[p];
      for (TensorKind const kind : state_kinds) {
        real::StateTensor tensor{.parameter = static_cast<int>(p), .kind = kind, .shard = {}};
        tensor.shard = {.key = real::key_of(parameter.name, kind),
                        .global_shape = parameter.shape,
                        .ranges = {&ranges_[p], 1},
                        .data = data,
                        .on_host = true};
        data += tensor.shard.bytes();
        state_.tensors.push_back(std::move(tensor));
      }
      group.parameters.push_back(parameter.name);
      state_.progress.parameter_steps[parameter.name] = 0;
      state_.steps.push_back({.parameter = parameter.name});
    }
    state_.progress.groups.push_back(std::move(group));
  }

  template <typename Body>
  void in_place(real::Storage& storage, std::string const& directory, Body const& body) {
    real::Agreement agreement(communicator_, ledger_, stream_, where_);
    body({storage,
          directory,
          agreement,
          ledger_,
          stream_,
          where_,
          real::EngineConfig().checkpoint_piece_bytes,
          {.shards = where_.world_size}});
  }

  real::RankOfWorld where_;
  real::NcclCommunicator communicator_;
  real::Ledger ledger_;
  real::Stream stream_;
  std::vector<ElementRange> ranges_;  // by parameter
  real::CheckpointState state_;
};

class Planned final : public MovedPieces {
 public:
  explicit Planned(PiecesToMove const& pieces)
      : files_(pieces.files), segments_(files_.size()), staging_(ledger_, piece_bytes_, stream_) {
    std::vector<real::ReadRange> reads;
    for (std::size_t t = 0; t < pieces.saved.size(); ++t) {
      reads.clear();
      real::plan_reads(pieces.saved[t], pieces.own[t], reads);
      real::add_segments(reads, pieces.own[t], segments_);
    }
    real::sort(segments_);
  }

  void move() override {
    for (std::size_t f = 0; f < files_.size(); ++f)
      real::read_pieces(files_[f], files_[f].name, segments_[f], piece_bytes_, staging_);
  }

 private:
  std::size_t piece_bytes_ = real::EngineConfig().checkpoint_piece_bytes;
  std::span<real::OpenFile const> files_;
  real::Segments segments_;
  real::Ledger ledger_;
  real::Stream stream_;
  real::Staging staging_;
};

}  // namespace

}  // namespace adamant::scenarios

extern "C" {

adamant::scenarios::KeptState* adamant_bench_keep(adamant::scenarios::KeptRank const* rank) {
  return new adamant::scenarios::Kept(*rank);
}

adamant::scenarios::MovedPieces* adamant_bench_move(
    adamant::scenarios::PiecesToMove const* pieces) {
  return new adamant::scenarios::Planned(*pieces);
}
}
