#include "real/checkpoint/save.h"

#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/shard_files.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

// ---- directories: rank 0 only ----

/// The older checkpoint gets its name again. REQUIRES: nothing is called so.
void put_back(Storage& storage, std::string const& directory) {
  std::string const previous = previous_directory(directory);
  if (storage.exists(previous)) storage.rename(previous, directory);
}

/// Clears what an earlier save left when it was cut off.
void prepare(Storage& storage, std::string const& directory) {
  remove_all(storage, partial_directory(directory));
  if (storage.exists(directory))
    remove_all(storage, previous_directory(directory));
  else
    put_back(storage, directory);
  storage.make_directory(partial_directory(directory));
}

void write_manifest(Storage& storage, std::string const& directory, Manifest const& manifest) {
  std::string const text = encode(manifest);
  auto const file = storage.create(join_path(directory, manifest_name));
  file->append(std::as_bytes(std::span(text.data(), text.size())));
  file->sync();
  storage.sync_directory(directory);
}

void publish(Storage& storage, std::string const& directory) {
  std::string const partial = partial_directory(directory);
  std::string const previous = previous_directory(directory);
  if (storage.exists(directory)) {
    storage.rename(directory, previous);
    storage.sync_directory(parent_of(directory));
  }
  storage.rename(partial, directory);
  storage.sync_directory(parent_of(directory));
  remove_all(storage, previous);
}

/// After a refusal, as far as the disk can: what was written aside goes, and the older checkpoint
/// has its name.
void discard(CheckpointPlace const& place) {
  if (place.where.rank != 0) return;
  try {
    if (!place.storage.exists(place.directory)) put_back(place.storage, place.directory);
    remove_all(place.storage, partial_directory(place.directory));
  } catch (StorageError const&) {  // the next save will remove it
  }
}

void save_in_steps(CheckpointPlace const& place, CheckpointState const& state) {
  ADAMANT_REAL_ASSERT(place.mesh.rank_count() == place.where.world_size);
  bool const first = place.where.rank == 0;
  std::string const partial = partial_directory(place.directory);
  place.agreement.together([&](Message&) {
    if (first) prepare(place.storage, place.directory);
  });
  ShardFiles mine(place, state);
  std::vector<Message> files =
      place.agreement.together([&](Message& told) { tell_files(mine.write(partial), told); });
  place.agreement.together([&](Message&) {
    if (!first) return;
    Manifest manifest{
        place.where.world_size, place.piece_bytes, state.progress, mine.whole_tensors(), {}};
    for (std::size_t rank = 0; rank < files.size(); ++rank)
      for (ManifestFile& file : told_files(static_cast<int>(rank), std::move(files[rank])))
        manifest.files.push_back(std::move(file));
    for (ParameterStep const& step : state.steps)
      if (!step.parts.empty()) manifest.parts[step.parameter] = step.parts;
    write_manifest(place.storage, partial, manifest);
    publish(place.storage, place.directory);
  });
}

}  // namespace

void save_checkpoint(CheckpointPlace const& place, CheckpointState const& state) {
  try {
    save_in_steps(place, state);
  } catch (StorageError const&) {
    discard(place);
    throw;
  }
}

}  // namespace adamant::real
