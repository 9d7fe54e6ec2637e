// Bytes of an opened checkpoint brought to where they belong, or into host memory to be looked at,
// every piece verified.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "real/checkpoint/index.h"
#include "real/checkpoint/save.h"
#include "real/checkpoint/staging.h"
#include "real/checkpoint/transfer.h"

namespace adamant::real {

/// What is read of every file.
using Segments = std::vector<std::vector<FileSegment>>;

/// Adds what brings `ranges` to a shard.
void add_segments(std::span<ReadRange const> ranges, ShardDescription const& shard,
                  Segments& segments);
/// By place in each file, as reads want them.
void sort(Segments& segments);

/// Errors of all verbs: CheckpointError (damaged), CudaError, StorageError.
class CheckpointReader {
 public:
  /// REQUIRES: both outlive it.
  CheckpointReader(CheckpointPlace const& place, Checkpoint const& checkpoint)
      : place_(place), checkpoint_(checkpoint) {}

  /// As small as the files allow.
  Staging make_staging() const;
  std::size_t piece_bytes() const;

  /// REQUIRES: sorted segments. Stream: returns when the copies are enqueued on the staging's.
  void read(Segments const& segments, Staging& staging) const;

  /// This rank's part of a tensor as a file has it, in host memory. `room` says which part.
  std::vector<std::byte> read_bytes(SavedTensor const& saved, ShardDescription room,
                                    Staging& staging) const;

 private:
  CheckpointPlace const& place_;
  Checkpoint const& checkpoint_;
};

}  // namespace adamant::real
