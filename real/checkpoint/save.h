// Saving: every rank writes its shards to files of its own, aside; what is complete replaces the
// older checkpoint by renaming. At every moment the old or the new one is on disk, whole.
//
//   rank 0    .NAME.partial made
//   all       shard files written and synced                 see shard_files.h
//   rank 0    manifest written and synced, directory synced
//             NAME -> .NAME.previous, .NAME.partial -> NAME, .NAME.previous removed
#pragma once

#include <cstddef>
#include <string>

#include "real/checkpoint/agreement.h"
#include "real/checkpoint/state.h"
#include "real/checkpoint/storage.h"

namespace adamant::real {

/// Where a save or load happens and what it may use.
struct CheckpointPlace {
  Storage& storage;
  std::string directory;
  Agreement& agreement;
  Ledger& ledger;
  Stream const& stream;  // everything that writes the shards is ordered before its end
  RankOfWorld where;     // among all ranks
  std::size_t piece_bytes;
  Mesh mesh;  // of all ranks
};

/// Called by all ranks. The directory that holds `directory` has to exist.
///
/// Stream: returns when the checkpoint is in place and survives a crash.
/// Errors: StorageError on all ranks; what is loaded then is the older checkpoint, or the new one
///         where the disk refused only what follows its last rename. CudaError, NcclError. The
///         shards are never changed.
void save_checkpoint(CheckpointPlace const& place, CheckpointState const& state);

}  // namespace adamant::real
