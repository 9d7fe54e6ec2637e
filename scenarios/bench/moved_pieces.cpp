#include "scenarios/bench/moved_pieces.h"

#include "real/checkpoint/reading.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/transfer.h"
#include "real/cuda/handles.h"
#include "real/engine.h"

namespace adamant::scenarios {

namespace {

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

adamant::scenarios::MovedPieces* adamant_bench_move(
    adamant::scenarios::PiecesToMove const* pieces) {
  return new adamant::scenarios::Planned(*pieces);
}
}
