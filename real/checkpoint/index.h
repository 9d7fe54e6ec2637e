// A checkpoint opened for reading: its files, and every tensor that they hold together. Everything
// that can be known without reading tensors is checked here: nothing is missing, left over,
// overlapping or of another size. It does not know who loads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "real/checkpoint/manifest.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/storage.h"

namespace adamant::real {

struct OpenFile {
  std::string name;
  std::unique_ptr<InputFile> content;
  std::vector<std::uint32_t> pieces;  // checksums; empty where there is no manifest
};

struct Checkpoint {
  std::string directory;  // the one that is read
  std::optional<Manifest> manifest;
  std::vector<OpenFile> files;
  std::map<std::string, SavedTensor> tensors;  // by key
  std::vector<std::string> notes;              // what a user should hear of
};

/// The directory that a load of `directory` reads: a save that was cut off between its two renames
/// left the older checkpoint beside it, whole.
std::string directory_to_load(Storage& storage, std::string const& directory);

/// Where a save keeps what it has not finished, and what it is about to replace.
std::string partial_directory(std::string const& directory);
std::string previous_directory(std::string const& directory);

/// Opens the checkpoint of that directory. With adamant's manifest its files are those that the
/// manifest lists, no more and no fewer; without one all safetensors files, whose tensors are as
/// large as the files say or, as PyTorch reads them, as their parts reach.
///
/// Errors: CheckpointError (damaged); StorageError.
Checkpoint open_checkpoint(Storage& storage, std::string const& directory);

}  // namespace adamant::real
