#include "real/checkpoint/save.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/conversion.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"
#include "real/checkpoint/saved_recipe.h"
#include "real/checkpoint/transfer.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

// ---- what this rank's file says ----

/// A tensor as files and manifest describe it, and where this rank has its bytes: in `source` as
/// they are, or made of what `converted` has.
struct Described {
  SavedPart part;
  ShardDescription source = {};
  StateTensor const* converted = nullptr;
  float scale = 1;  // of what is converted
};

/// REQUIRES: a shard that is one box, as a file holds one part of a tensor; fsdp2 has no others.
SavedPart part_of(ShardDescription const& shard, std::string key, NumberFormat format) {
  ADAMANT_REAL_ASSERT(shard.ranges.size() == 1);
  std::optional<Box> box = box_of(shard.ranges.front(), shard.global_shape);
  ADAMANT_REAL_ASSERT(box.has_value());
  SavedPart part;
  part.key = std::move(key);
  part.dtype = dtype_of(format);
  part.global_shape = shard.global_shape;
  part.shape = std::move(box->shape);
  part.offsets = std::move(box->offsets);
  return part;
}

/// Values in fp32, and beside them the numbers as they are stored.
void describe_numbers(StateTensor const& tensor, float scale, std::vector<Described>& described) {
  ShardDescription const& shard = tensor.shard;
  Described values = {.part = part_of(shard, shard.key, NumberFormat::fp32)};
  if (shard.format == NumberFormat::fp32)
    values.source = shard;
  else
    values.converted = &tensor;
  values.scale = scale;
  described.push_back(std::move(values));
  if (has_raw(shard.format))
    described.push_back({part_of(shard, raw_key(shard.key), shard.format), shard});
}

/// Values in fp32, and beside them codes and scales. `ranges` keeps where the parts are found.
void describe_quantised(StateTensor const& tensor, RankOfWorld where,
                        std::deque<ElementRange>& ranges, std::vector<Described>& described) {
  ShardDescription const& shard = tensor.shard;
  described.push_back(
      {.part = part_of(shard, shard.key, NumberFormat::fp32), .converted = &tensor});
  for (BesideTensor const& is :
       tensors_beside(tensor.quantised->shape.recipe, shard.global_shape)) {
    if (is.elements == 0 && where.rank != 0) continue;
    ElementRange const& range = ranges.emplace_back(is.part_of(shard.ranges.front()));
    ShardDescription const source = describe_part(is, range, data_of(*tensor.quantised, is.what));
    described.push_back({part_of(source, beside_key(shard.key, is.what), is.format), source});
  }
}

constexpr ElementRange one_element = {.begin = 0, .end = 1};

/// A number on the host, the element of `part` that this rank has.
Described describe_number(SavedPart part, float& value) {
  part.dtype = dtype_of(NumberFormat::fp32);
  ShardDescription source;
  source.global_shape = {1};
  source.ranges = {&one_element, 1};
  source.data = reinterpret_cast<std::byte*>(&value);
  source.on_host = true;
  return {std::move(part), std::move(source)};
}

/// Steps have no shards: rank 0 saves them.
std::vector<Described> describe_steps(CheckpointState const& state, std::vector<float>& values) {
  values.reserve(state.steps.size());
  std::vector<Described> described;
  for (ParameterStep const& step : state.steps) {
    values.push_back(static_cast<float>(step.step));
    SavedPart part;
    part.key = state_key(step.parameter, "step");
    described.push_back(describe_number(std::move(part), values.back()));
  }
  return described;
}

/// The scale of a whole tensor is rank 0's to save, those of shards are a list with one of each
/// rank.
SavedPart part_of_scale(StateTensor const& tensor, RankOfWorld where) {
  bool const each = tensor.coverage == StateScale::local;
  SavedPart part;
  part.key = scale_key(tensor.shard.key);
  part.global_shape = {each ? where.world_size : 1};
  part.shape = {1};
  part.offsets = {each ? where.rank : 0};
  return part;
}

// ---- writing it ----

/// Numbers that are converted at once.
constexpr std::int64_t block_numel = 1 << 16;

/// One rank's file: header and data.
class ShardFile {
 public:
  /// REQUIRES: `place` and `state` outlive it. Errors: CudaError.
  ShardFile(CheckpointPlace const& place, CheckpointState const& state) : place_(place) {
    RankOfWorld const where = place.where;
    std::vector<StateTensor const*> scaled;
    for (StateTensor const& tensor : state.tensors) {
      if (tensor.quantised) {
        describe_quantised(tensor, where, ranges_, tensors_);
        continue;
      }
      float const scale = scale_of(tensor, place.stream);
      describe_numbers(tensor, scale, tensors_);
      if (!tensor.scaled()) continue;
      scaled.push_back(&tensor);
      scales_.push_back(scale);
    }
    for (std::size_t i = 0; i < scaled.size(); ++i)
      if (where.rank == 0 || scaled[i]->coverage == StateScale::local)
        tensors_.push_back(describe_number(part_of_scale(*scaled[i], where), scales_[i]));
    if (where.rank != 0) return;
    std::vector<Described> steps = describe_steps(state, steps_);
    tensors_.insert(tensors_.end(), steps.begin(), steps.end());
  }

  ManifestFile write(std::string const& directory) {
    std::vector<SavedPart> parts;
    for (Described const& tensor : tensors_) parts.push_back(tensor.part);
    std::vector<std::byte> const header =
        encode_header(parts, {{"format", "pt"}, {"DCP_VERSION", "1.0"}, {"adamant", "1"}});
    ManifestFile file{shard_file_name(place_.where.rank), parts.back().end, {}};
    auto const output = place_.storage.create(join_path(directory, file.name));
    Staging staging(place_.ledger, slot_bytes(file.bytes, place_.piece_bytes), place_.stream);
    PieceWriter writer(*output, place_.piece_bytes, staging);
    writer.append(header.data(), header.size(), true);
    for (Described const& tensor : tensors_) {
      if (tensor.converted == nullptr)
        writer.append(tensor.source);
      else
        append_converted(tensor, writer);
    }
    file.pieces = std::move(writer).checksums();
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
  void append_converted(Described const& tensor, PieceWriter& writer) {
    StateTensor const& from = *tensor.converted;
    if (!from.quantised)
      return append_blocks(from, writer, [&](std::int64_t first, std::int64_t count) {
        return values_of(from, tensor.scale, first, count, place_.stream);
      });
    QuantisedValues const quantised(from, place_.stream);
    append_blocks(from, writer, [&](std::int64_t first, std::int64_t count) {
      return quantised.values(first, count);
    });
  }

  template <typename ValuesOf>
  void append_blocks(StateTensor const& tensor, PieceWriter& writer, ValuesOf values_of_block) {
    std::int64_t const numel = tensor.shard.numel();
    for (std::int64_t first = 0; first < numel; first += block_numel) {
      std::vector<float> const values =
          values_of_block(first, std::min(block_numel, numel - first));
      auto const bytes = std::as_bytes(std::span(values));
      writer.append(bytes.data(), bytes.size(), true);
    }
  }

  CheckpointPlace const& place_;
  std::vector<float> scales_;
  std::vector<float> steps_;
  std::deque<ElementRange> ranges_;  // of what stands beside quantised parameters
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
  ShardFile file(place, state);
  std::vector<std::string> const files =
      place.agreement.together([&] { return text_of(file.write(partial)); });
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
