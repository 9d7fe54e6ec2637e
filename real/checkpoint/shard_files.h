// The files of one rank: which boxes of which tensors they have, and how they are written. What a
// rank has of a tensor is one box, or the fewest that it takes (reshard.h); the k-th of every
// tensor are in the rank's k-th file, because a header has a key once. Every rank has a first file,
// and most have no other.
//
//   written is       by
//   a parameter      the ranks of replica 0: others have the same
//   a state          the same; where states are cut over replicas, every rank
//   of the whole     rank 0: steps, and scales of whole tensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "real/checkpoint/manifest.h"
#include "real/checkpoint/message.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/save.h"
#include "real/checkpoint/saved_form.h"
#include "real/checkpoint/state.h"
#include "real/checkpoint/transfer.h"

namespace adamant::real {

class ShardFiles {
 public:
  /// REQUIRES: `place` and `state` outlive it. Stream: waits. Errors: CudaError.
  ShardFiles(CheckpointPlace const& place, CheckpointState const& state);

  /// Writes and syncs them, in this directory. Errors: CudaError, StorageError.
  std::vector<ManifestFile> write(std::string const& directory);

  /// Every saved tensor. REQUIRES: this is rank 0.
  std::vector<ManifestTensor> whole_tensors() const;

 private:
  /// A box of a tensor in one of the files, and where its bytes are: in memory as they are, or made
  /// of elements of `converted` from `first` on.
  struct Piece {
    SavedPart part;
    std::size_t file = 0;
    std::vector<FileSegment> stored = {};
    StateTensor const* converted = nullptr;
    std::int64_t first = 0;
    float scale = 1;
  };
  /// What all pieces of a tensor have in common.
  struct Described {
    std::string key;
    NumberFormat format = NumberFormat::fp32;
    ShardDescription const& shard;  // which elements, and where they are stored
    StateTensor const* converted = nullptr;
    float scale = 1;
  };

  bool is_written_here(TensorKind kind) const;
  void describe(StateTensor const& tensor);
  void describe_numbers(StateTensor const& tensor, float scale);
  void describe_quantised(StateTensor const& tensor);
  void describe_scale(StateTensor const& tensor, float scale);
  void describe_steps();
  void add(Described const& tensor, Share const& share);
  void add_number(std::string const& key, std::vector<std::int64_t> const& whole,
                  std::vector<std::int64_t> const& at, float value);
  std::vector<std::string> keys_of(StateTensor const& tensor) const;

  ManifestFile write_file(std::string const& directory, std::size_t file, std::size_t count);
  void append_converted(Piece const& piece, PieceWriter& writer);

  CheckpointPlace const& place_;
  CheckpointState const& state_;
  std::vector<Piece> pieces_;
  std::deque<float> numbers_;  // that pieces are stored in
};

/// What rank 0 hears of a rank's files, for the manifest.
void tell_files(std::vector<ManifestFile> const& files, Message& message);
std::vector<ManifestFile> told_files(int rank, Message message);

}  // namespace adamant::real
