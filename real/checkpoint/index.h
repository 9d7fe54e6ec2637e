// A checkpoint opened for reading: its files, and every tensor that they hold together. Everything
// that can be known without reading tensors is checked here: nothing is missing, left over,
// overlapping or of another size. It does not know who loads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/headers.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/storage.h"

namespace adamant::real {

struct OpenFile {
  std::string name;
  std::unique_ptr<InputFile> content;  // of the size that it had when its header was read
  std::vector<std::uint32_t> pieces;   // checksums; empty where there is no manifest
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

/// A checkpoint that several open together: each reads the headers of some files, once for all.
/// With adamant's manifest its files are those that the manifest lists, no more and no fewer;
/// without one all safetensors files, whose tensors are as large as the files say or, as PyTorch
/// reads them, as their parts reach. A file is opened by who reads its header, and later by who
/// reads anything else of it.
class CheckpointOpening {
 public:
  /// Looks at the manifest and at the names of files. REQUIRES: `storage` outlives what is opened.
  ///
  /// Errors: CheckpointError (damaged); StorageError.
  CheckpointOpening(Storage& storage, std::string const& directory);

  /// Reads the headers of file `first` and of every `count`-th behind it, and tells what they say,
  /// for finish(). Errors: as above.
  void read_headers(std::size_t first, std::size_t count, Message& told);

  /// `said[i]` is what read_headers(i, said.size()) has told, here or somebody else.
  ///
  /// Errors: CheckpointError (damaged), also where somebody else sees another checkpoint there.
  Checkpoint finish(std::vector<Message> said) &&;

 private:
  struct Told;

  void find_listed();
  void find_unlisted();
  FileHeader read_listed(ManifestFile const& file);
  FileHeader read_unlisted(std::string const& name);
  void add_file(std::size_t file, Told& told);
  void add(ToldPart const& part, Told& told, std::string const& path);
  SavedTensor& tensor_of(ToldPart const& part, Told& told, std::string const& path);
  std::string path_of(std::string const& name) const;
  void check() const;

  Storage& storage_;
  Checkpoint checkpoint_;
  std::vector<SavedTensor*> listed_;  // tensors of the manifest, by their numbers
  NameNumbers numbers_;
  std::vector<std::string> names_;  // of its files
  std::uint32_t seen_ = 0;          // the same for who sees the same directory, manifest and names
};

/// The same by one alone.
Checkpoint open_checkpoint(Storage& storage, std::string const& directory);

}  // namespace adamant::real
