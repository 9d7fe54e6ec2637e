#include "real/checkpoint/save.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/transfer.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

// ---- what this rank's file says ----

/// A tensor as files and manifest describe it, and where this rank has its bytes.
struct Described {
  SavedPart part;
  ShardDescription source;
};

/// REQUIRES: a shard that is one box, as a file holds one part of a tensor; fsdp2 has no others.
SavedPart part_of(ShardDescription const& shard) {
  ADAMANT_REAL_ASSERT(shard.ranges.size() == 1);
  std::optional<Box> box = box_of(shard.ranges.front(), shard.global_shape);
  ADAMANT_REAL_ASSERT(box.has_value());
  SavedPart part;
  part.key = shard.key;
  part.dtype = dtype_of(shard.format);
  part.global_shape = shard.global_shape;
  part.shape = std::move(box->shape);
  part.offsets = std::move(box->offsets);
  return part;
}

std::vector<Described> describe_tensors(CheckpointState const& state) {
  std::vector<Described> described;
  for (ShardDescription const& shard : state.tensors) described.push_back({part_of(shard), shard});
  return described;
}

constexpr ElementRange one_element = {.begin = 0, .end = 1};

/// Steps have no shards: rank 0 saves them.
std::vector<Described> describe_steps(CheckpointState const& state, std::vector<float>& values) {
  values.reserve(state.steps.size());
  std::vector<Described> described;
  for (ParameterStep const& step : state.steps) {
    values.push_back(static_cast<float>(step.step));
    SavedPart part;
    part.key = state_key(step.parameter, "step");
    part.dtype = dtype_of(NumberFormat::fp32);
    ShardDescription source;
    source.global_shape = {1};
    source.ranges = {&one_element, 1};
    source.data = reinterpret_cast<std::byte*>(&values.back());
    source.on_host = true;
    described.push_back({std::move(part), std::move(source)});
  }
  return described;
}

// ---- writing it ----

/// One rank's file: header and data.
class ShardFile {
 public:
  ShardFile(CheckpointState const& state, RankOfWorld where) : tensors_(describe_tensors(state)) {
    if (where.rank != 0) return;
    std::vector<Described> steps = describe_steps(state, steps_);
    tensors_.insert(tensors_.end(), steps.begin(), steps.end());
  }

  ManifestFile write(CheckpointPlace const& place, std::string const& directory) {
    std::vector<SavedPart> parts;
    for (Described const& tensor : tensors_) parts.push_back(tensor.part);
    std::vector<std::byte> header =
        encode_header(parts, {{"format", "pt"}, {"DCP_VERSION", "1.0"}, {"adamant", "1"}});
    std::vector<FileSegment> segments = {{0, header.size(), header.data(), true}};
    for (std::size_t i = 0; i < parts.size(); ++i)
      append_segments(tensors_[i].source, 0, tensors_[i].source.bytes(), parts[i].begin, segments);
    ManifestFile file{shard_file_name(place.where.rank), parts.back().end, {}};
    auto const output = place.storage.create(join_path(directory, file.name));
    Staging staging(place.ledger, slot_bytes(file.bytes, place.piece_bytes), place.stream);
    file.pieces = write_pieces(*output, segments, place.piece_bytes, staging);
    output->sync();
    return file;
  }

  std::vector<ManifestTensor> whole_tensors() const {
    std::vector<ManifestTensor> tensors;
    for (Described const& tensor : tensors_)
      tensors.push_back({tensor.part.key, tensor.part.dtype, tensor.part.global_shape});
    return tensors;
  }

 private:
  std::vector<float> steps_;
  std::vector<Described> tensors_;
};

/// "<bytes> <checksums>", for rank 0's manifest.
std::string text_of(ManifestFile const& file) {
  return concat(std::to_string(file.bytes), " ", text_of_pieces(file.pieces));
}

ManifestFile file_of(int rank, std::string const& text) {
  std::size_t const space = text.find(' ');
  ADAMANT_REAL_ASSERT(space != std::string::npos);
  return {shard_file_name(rank), std::stoull(text.substr(0, space)),
          pieces_of_text(text.substr(space + 1))};
}

// ---- directories: rank 0 only ----

/// Clears what an earlier save left when it was cut off.
void prepare(Storage& storage, std::string const& directory) {
  std::string const previous = previous_directory(directory);
  remove_all(storage, partial_directory(directory));
  if (storage.exists(directory)) {
    remove_all(storage, previous);
  } else if (storage.exists(previous)) {
    storage.rename(previous, directory);
  }
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

/// After a refusal: the older checkpoint stays, what was written aside goes if it can.
void discard(CheckpointPlace const& place) {
  if (place.where.rank != 0) return;
  try {
    remove_all(place.storage, partial_directory(place.directory));
  } catch (StorageError const&) {  // the next save will remove it
  }
}

void save_in_steps(CheckpointPlace const& place, CheckpointState const& state) {
  bool const first = place.where.rank == 0;
  std::string const partial = partial_directory(place.directory);
  place.agreement.together([&] {
    if (first) prepare(place.storage, place.directory);
    return std::string();
  });
  ShardFile file(state, place.where);
  std::vector<std::string> const files =
      place.agreement.together([&] { return text_of(file.write(place, partial)); });
  place.agreement.together([&] {
    if (!first) return std::string();
    Manifest manifest{
        place.where.world_size, place.piece_bytes, state.progress, file.whole_tensors(), {}};
    for (std::size_t rank = 0; rank < files.size(); ++rank)
      manifest.files.push_back(file_of(static_cast<int>(rank), files[rank]));
    write_manifest(place.storage, partial, manifest);
    publish(place.storage, place.directory);
    return std::string();
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
