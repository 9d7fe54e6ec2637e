#include "real/checkpoint/shard_files.h"

#include <algorithm>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/conversion.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/reshard.h"
#include "real/checkpoint/saved_recipe.h"
#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

/// Numbers that are converted at once.
constexpr std::int64_t block_numel = 1 << 16;

/// Elements that a shard has of a share, numbered in the share, and where they begin in the shard.
struct OwnPart {
  ElementRange range;
  std::int64_t first = 0;
};

/// Ranges that touch are one.
std::vector<OwnPart> own_parts(std::span<ElementRange const> own, ElementRange share) {
  std::vector<OwnPart> parts;
  std::int64_t first = 0;
  for (ElementRange const range : own) {
    std::int64_t const begin = std::max(range.begin, share.begin) - share.begin;
    std::int64_t const end = std::min(range.end, share.end) - share.begin;
    if (begin < end && !parts.empty() && parts.back().range.end == begin)
      parts.back().range.end = end;
    else if (begin < end)
      parts.push_back({{begin, end}, first + begin + share.begin - range.begin});
    first += range.numel();
  }
  return parts;
}

}  // namespace

ShardFiles::ShardFiles(CheckpointPlace const& place, CheckpointState const& state)
    : place_(place), state_(state) {
  for (StateTensor const& tensor : state.tensors)
    if (is_written_here(tensor.kind)) describe(tensor);
  if (place.where.rank == 0) describe_steps();
}

bool ShardFiles::is_written_here(TensorKind kind) const {
  bool const each_has_its_own = kind != TensorKind::parameter && place_.mesh.cuts_states_across();
  return each_has_its_own || place_.mesh.replica_of(place_.where.rank) == 0;
}

void ShardFiles::describe(StateTensor const& tensor) {
  if (tensor.quantised) return describe_quantised(tensor);
  float const scale = scale_of(tensor, place_.stream);
  describe_numbers(tensor, scale);
  if (tensor.scaled()) describe_scale(tensor, scale);
}

/// Of the parts of its parameter, in their order.
std::vector<std::string> ShardFiles::keys_of(StateTensor const& tensor) const {
  std::vector<std::string> keys;
  for (std::string const& name :
       names_in_keys(state_.steps[static_cast<std::size_t>(tensor.parameter)]))
    keys.push_back(key_of(name, tensor.kind));
  return keys;
}

/// Values in fp32, and beside them the numbers as they are stored.
void ShardFiles::describe_numbers(StateTensor const& tensor, float scale) {
  ShardDescription const& shard = tensor.shard;
  bool const converts = shard.format != NumberFormat::fp32;
  std::vector<std::string> const keys = keys_of(tensor);
  std::vector<Share> const shares = shares_of(shard.global_shape, keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    add({.key = keys[k], .shard = shard, .converted = converts ? &tensor : nullptr, .scale = scale},
        shares[k]);
    if (has_raw(shard.format))
      add({.key = raw_key(keys[k]), .format = shard.format, .shard = shard}, shares[k]);
  }
}

/// Values in fp32, and beside them codes and scales.
void ShardFiles::describe_quantised(StateTensor const& tensor) {
  ShardDescription const& shard = tensor.shard;
  RecipeShape const& recipe = tensor.quantised->shape;
  std::vector<std::string> const keys = keys_of(tensor);
  std::vector<Share> const shares = shares_of(shard.global_shape, keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    add({.key = keys[k], .shard = shard, .converted = &tensor}, shares[k]);
  for (BesideTensor const& is :
       tensors_beside(recipe.recipe, shard.global_shape, recipe.whole_scales != 0)) {
    if (is.elements == 0 && place_.where.rank != 0) continue;
    ElementRange const own = is.part_of(shard.ranges.front());
    ShardDescription const source = describe_part(is, own, data_of(*tensor.quantised, is.what));
    std::vector<Share> const of_it =
        shares_beside(is, recipe.recipe, shard.global_shape, keys.size());
    for (std::size_t k = 0; k < keys.size(); ++k)
      add({.key = beside_key(keys[k], is.what), .format = is.format, .shard = source}, of_it[k]);
  }
}

/// The scale of a whole tensor is rank 0's to save, those of shards are a list with one of each
/// that states are cut into.
void ShardFiles::describe_scale(StateTensor const& tensor, float scale) {
  bool const each = tensor.coverage == StateScale::local;
  if (!each && place_.where.rank != 0) return;
  Mesh const& mesh = place_.mesh;
  int const rank = place_.where.rank;
  int const shard = mesh.cuts_states_across() ? rank : mesh.shard_of(rank);
  for (std::string const& key : keys_of(tensor))
    add_number(scale_key(key), {each ? mesh.state_shards() : 1}, {each ? shard : 0}, scale);
}

void ShardFiles::describe_steps() {
  for (ParameterStep const& step : state_.steps)
    for (std::string const& name : names_in_keys(step))
      add_number(state_key(name, "step"), {}, {}, static_cast<float>(step.step));
}

void ShardFiles::add(Described const& tensor, Share const& share) {
  std::vector<OwnPart> parts = own_parts(tensor.shard.ranges, share.range);
  if (parts.empty()) parts.push_back({{share.range.numel(), share.range.numel()}});
  std::size_t file = 0;
  for (OwnPart const& own : parts) {
    for (auto& [range, box] : boxes_of(own.range, share.shape)) {
      Piece& piece = pieces_.emplace_back(Piece{.part = {.key = tensor.key,
                                                         .dtype = dtype_of(tensor.format),
                                                         .shape = std::move(box.shape),
                                                         .offsets = std::move(box.offsets),
                                                         .global_shape = share.shape},
                                                .file = file++,
                                                .converted = tensor.converted,
                                                .first = own.first + range.begin - own.range.begin,
                                                .scale = tensor.scale});
      auto const size = static_cast<std::int64_t>(bytes_of(tensor.format));
      if (tensor.converted == nullptr && range.numel() > 0)
        append_segments(tensor.shard, static_cast<std::uint64_t>(piece.first * size),
                        static_cast<std::uint64_t>(range.numel() * size), 0, piece.stored);
    }
  }
}

/// `at` is where it lies in a tensor of the shape `whole`.
void ShardFiles::add_number(std::string const& key, std::vector<std::int64_t> const& whole,
                            std::vector<std::int64_t> const& at, float value) {
  auto* const number = reinterpret_cast<std::byte*>(&numbers_.emplace_back(value));
  SavedPart part{.key = key,
                 .dtype = dtype_of(NumberFormat::fp32),
                 .shape = std::vector<std::int64_t>(whole.size(), 1),
                 .offsets = at,
                 .global_shape = whole};
  pieces_.push_back({.part = std::move(part),
                     .stored = {{.bytes = sizeof value, .data = number, .on_host = true}}});
}

// ---- writing it ---------------------------------------------------------------------------------

std::vector<ManifestFile> ShardFiles::write(std::string const& directory) {
  std::size_t count = 1;
  for (Piece const& piece : pieces_) count = std::max(count, piece.file + 1);
  std::vector<ManifestFile> files;
  for (std::size_t file = 0; file < count; ++file)
    files.push_back(write_file(directory, file, count));
  return files;
}

ManifestFile ShardFiles::write_file(std::string const& directory, std::size_t file,
                                    std::size_t count) {
  std::vector<Piece const*> pieces;
  std::vector<SavedPart> parts;
  for (Piece const& piece : pieces_) {
    if (piece.file != file) continue;
    pieces.push_back(&piece);
    parts.push_back(piece.part);
  }
  std::vector<std::byte> const header =
      encode_header(parts, {{"format", "pt"}, {"DCP_VERSION", "1.0"}, {"adamant", "1"}});
  ManifestFile written{shard_file_name(place_.where.rank, file, count),
                       parts.empty() ? header.size() : parts.back().end,
                       {}};
  auto const output = place_.storage.create(join_path(directory, written.name));
  Staging staging(place_.ledger, slot_bytes(written.bytes, place_.piece_bytes), place_.stream);
  PieceWriter writer(*output, place_.piece_bytes, staging);
  writer.append(header.data(), header.size(), true);
  for (Piece const* const piece : pieces) {
    if (piece->converted != nullptr) append_converted(*piece, writer);
    for (FileSegment const& segment : piece->stored)
      writer.append(segment.data, segment.bytes, segment.on_host);
  }
  written.pieces = std::move(writer).checksums();
  output->sync();
  return written;
}

namespace {

/// Appends `count` values from `first` on, block by block.
template <typename ValuesOf>
void append_blocks(std::int64_t first, std::int64_t count, PieceWriter& writer,
                   ValuesOf values_of_block) {
  for (std::int64_t done = 0; done < count; done += block_numel) {
    std::vector<float> const values =
        values_of_block(first + done, std::min(block_numel, count - done));
    auto const bytes = std::as_bytes(std::span(values));
    writer.append(bytes.data(), bytes.size(), true);
  }
}

}  // namespace

void ShardFiles::append_converted(Piece const& piece, PieceWriter& writer) {
  StateTensor const& from = *piece.converted;
  if (!from.quantised)
    return append_blocks(piece.first, piece.part.numel(), writer,
                         [&](std::int64_t first, std::int64_t count) {
                           return values_of(from, piece.scale, first, count, place_.stream);
                         });
  QuantisedValues const quantised(from, place_.stream);
  append_blocks(
      piece.first, piece.part.numel(), writer,
      [&](std::int64_t first, std::int64_t count) { return quantised.values(first, count); });
}

std::vector<ManifestTensor> ShardFiles::whole_tensors() const {
  std::vector<ManifestTensor> tensors;
  for (Piece const& piece : pieces_)
    if (piece.file == 0)
      tensors.push_back({piece.part.key, piece.part.dtype, piece.part.global_shape});
  return tensors;
}

void tell_files(std::vector<ManifestFile> const& files, Message& message) {
  message.add_number(files.size());
  for (ManifestFile const& file : files) {
    message.add_number(file.bytes);
    message.add_number(file.pieces.size());
    for (std::uint32_t const piece : file.pieces) message.add_number(piece);
  }
}

std::vector<ManifestFile> told_files(int rank, Message message) {
  std::vector<ManifestFile> files(message.take_number());
  for (std::size_t index = 0; index < files.size(); ++index) {
    files[index].name = shard_file_name(rank, index, files.size());
    files[index].bytes = message.take_number();
    files[index].pieces.resize(message.take_number());
    for (std::uint32_t& piece : files[index].pieces)
      piece = static_cast<std::uint32_t>(message.take_number());
  }
  return files;
}

}  // namespace adamant::real
