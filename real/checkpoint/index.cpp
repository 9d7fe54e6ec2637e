#include "real/checkpoint/index.h"

#include <algorithm>
#include <set>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/safetensors.h"

namespace adamant::real {

namespace {

/// Metadata by which a file of ours says that it belongs to a manifest.
constexpr char manifest_mark[] = "adamant";

std::string read_text(Storage& storage, std::string const& path) {
  auto const file = storage.open(path);
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text.data(), text.size())));
  return text;
}

std::vector<std::string> shard_files(Storage& storage, std::string const& directory) {
  std::vector<std::string> names;
  for (DirectoryEntry const& entry : storage.list(directory))
    if (!entry.is_directory && is_shard_file(entry.name)) names.push_back(entry.name);
  return names;
}

void expect_same_files(Manifest const& manifest, std::vector<std::string> const& found,
                       std::string const& directory) {
  std::set<std::string> listed;
  for (ManifestFile const& file : manifest.files)
    if (!listed.insert(file.name).second)
      refuse_damaged(join_path(directory, file.name), ": the manifest lists it twice");
  for (std::string const& name : listed)
    if (std::find(found.begin(), found.end(), name) == found.end())
      refuse_damaged(join_path(directory, name), ": is missing; the manifest lists it");
  for (std::string const& name : found)
    if (!listed.contains(name))
      refuse_damaged(join_path(directory, name),
                     ": the manifest does not list it: it is left over from another save");
}

/// The first pieces of a file, as many as hold its header, verified.
std::vector<std::byte> read_header_pieces(ManifestFile const& file, std::uint64_t piece_bytes,
                                          InputFile& content, std::string const& path) {
  std::vector<std::byte> bytes;
  constexpr std::uint64_t size_bytes = 8;
  std::uint64_t wanted = size_bytes;
  for (std::size_t piece = 0; bytes.size() < wanted; ++piece) {
    std::size_t const begin = bytes.size();
    if (begin >= file.bytes) refuse_damaged(path, ": is too short for its header");
    bytes.resize(std::min<std::uint64_t>(begin + piece_bytes, file.bytes));
    std::span<std::byte> const added = std::span(bytes).subspan(begin);
    content.read(begin, added);
    if (crc32c(added) != file.pieces[piece])
      refuse_damaged(path, ": the bytes from ", std::to_string(begin), " to ",
                     std::to_string(bytes.size()), " are not those that were saved");
    if (wanted == size_bytes && bytes.size() >= size_bytes)
      wanted = header_bytes(std::span(bytes).first<8>(), file.bytes, path);
  }
  return bytes;
}

/// A number that differs where a directory, a manifest (empty for none) or names of files do.
std::uint32_t view_of(std::string const& directory, std::string const& manifest,
                      std::vector<std::string> const& names) {
  std::string all = concat(directory, "\n", manifest, "\n");
  for (std::string const& name : names) all += concat(name, "\n");
  return crc32c(std::as_bytes(std::span(all)));
}

/// A file that is opened when it is read first: most ranks read of few files.
class FileOnDemand final : public InputFile {
 public:
  FileOnDemand(Storage& storage, std::string path, std::uint64_t bytes)
      : storage_(storage), path_(std::move(path)), bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_; }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (file_ == nullptr) file_ = storage_.open(path_);
    file_->read(offset, into);
  }

 private:
  Storage& storage_;
  std::string path_;
  std::uint64_t bytes_;
  std::unique_ptr<InputFile> file_;
};

/// As far as the part says or reaches.
std::vector<std::int64_t> whole_of(ToldPart const& part) {
  if (!part.global_shape.empty()) return {part.global_shape.begin(), part.global_shape.end()};
  std::vector<std::int64_t> shape(part.offsets.begin(), part.offsets.end());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += part.shape[d];
  return shape;
}

void grow(SavedTensor& tensor, ToldPart const& part, std::string const& path) {
  std::vector<std::int64_t> const whole = whole_of(part);
  bool const said = !part.global_shape.empty();
  if (whole.size() != tensor.shape.size() || (said && whole != tensor.shape))
    refuse_damaged(path, ": tensor ", tensor.key, ": is a part of ", text_of_shape(whole),
                   ", in other files of ", text_of_shape(tensor.shape));
  for (std::size_t d = 0; d < whole.size(); ++d)
    tensor.shape[d] = std::max(tensor.shape[d], whole[d]);
}

/// A directory's neighbour that no checkpoint can be called.
std::string hidden_beside(std::string const& directory, char const* suffix) {
  std::string const name = name_of_path(directory);
  return concat(directory.substr(0, directory.size() - name.size()), ".", name, suffix);
}

}  // namespace

/// What a rank has told, as far as it has been heard.
struct CheckpointOpening::Told {
  ToldHeaders headers;
  std::vector<SavedTensor*> tensors = {};  // by their numbers, those that are listed left out
};

std::string partial_directory(std::string const& directory) {
  return hidden_beside(directory, ".partial");
}

std::string previous_directory(std::string const& directory) {
  return hidden_beside(directory, ".previous");
}

std::string directory_to_load(Storage& storage, std::string const& directory) {
  if (storage.exists(directory)) return directory;
  std::string const previous = previous_directory(directory);
  return storage.exists(previous) ? previous : directory;
}

CheckpointOpening::CheckpointOpening(Storage& storage, std::string const& directory)
    : storage_(storage) {
  checkpoint_.directory = directory_to_load(storage, directory);
  std::string const path = path_of(manifest_name);
  std::string manifest;
  if (storage.exists(path)) {
    manifest = read_text(storage, path);
    checkpoint_.manifest = decode_manifest(manifest, path);
    find_listed();
  } else {
    find_unlisted();
  }
  seen_ = view_of(checkpoint_.directory, manifest, names_);
}

void CheckpointOpening::find_listed() {
  Manifest const& manifest = *checkpoint_.manifest;
  expect_same_files(manifest, shard_files(storage_, checkpoint_.directory), checkpoint_.directory);
  for (ManifestFile const& file : manifest.files) names_.push_back(file.name);
  for (ManifestTensor const& tensor : manifest.tensors) {
    auto const [known, is_new] = checkpoint_.tensors.try_emplace(tensor.key);
    if (!is_new)
      refuse_damaged(path_of(manifest_name), ": tensor ", tensor.key, ": is listed twice");
    known->second = {tensor.key, tensor.dtype, tensor.shape};
    numbers_.try_emplace({tensor.key, tensor.dtype}, listed_.size());
    listed_.push_back(&known->second);
  }
}

void CheckpointOpening::find_unlisted() {
  names_ = shard_files(storage_, checkpoint_.directory);
  if (names_.empty())
    refuse_damaged(checkpoint_.directory, ": holds neither ", manifest_name,
                   " nor any .safetensors file");
  checkpoint_.notes.push_back(
      concat(checkpoint_.directory, ": no ", manifest_name,
             ": hyper-parameters and groups stay as they are, nothing is verified by checksums"));
}

void CheckpointOpening::read_headers(std::size_t first, std::size_t count, Message& told) {
  std::vector<FileHeader> headers;
  for (std::size_t file = first; file < names_.size(); file += count)
    headers.push_back(checkpoint_.manifest ? read_listed(checkpoint_.manifest->files[file])
                                           : read_unlisted(names_[file]));
  told.add_number(seen_);
  tell_headers(headers, numbers_, told);
}

FileHeader CheckpointOpening::read_listed(ManifestFile const& file) {
  std::string const path = path_of(file.name);
  auto const content = storage_.open(path);
  if (content->size() != file.bytes)
    refuse_damaged(path, ": has ", std::to_string(content->size()), " bytes, expected ",
                   std::to_string(file.bytes));
  auto const bytes = read_header_pieces(file, checkpoint_.manifest->piece_bytes, *content, path);
  return {content->size(), parse_header(bytes, file.bytes, path).parts};
}

FileHeader CheckpointOpening::read_unlisted(std::string const& name) {
  auto const content = storage_.open(path_of(name));
  SafetensorsHeader header = read_header(*content, path_of(name));
  if (header.metadata.contains(manifest_mark))
    refuse_damaged(path_of(manifest_name), ": is missing; ", name, " was saved with one");
  return {content->size(), std::move(header.parts)};
}

Checkpoint CheckpointOpening::finish(std::vector<Message> said) && {
  std::vector<Told> told;
  for (Message& message : said) {
    if (message.take_number() != seen_)
      refuse_damaged(checkpoint_.directory, ": is another checkpoint for rank ",
                     std::to_string(told.size()));
    told.push_back({{std::move(message), listed_.size()}});
  }
  for (std::size_t file = 0; file < names_.size(); ++file) add_file(file, told[file % said.size()]);
  for (auto& [key, tensor] : checkpoint_.tensors) {
    count_elements(tensor.shape, checkpoint_.directory, key);
    find_runs(tensor);  // once for all plans
  }
  check();
  return std::move(checkpoint_);
}

void CheckpointOpening::add_file(std::size_t file, Told& told) {
  std::string const path = path_of(names_[file]);
  ToldFile const header = told.headers.file();
  for (std::size_t i = 0; i < header.parts; ++i) add(told.headers.part(), told, path);
  std::vector<std::uint32_t> pieces;
  if (checkpoint_.manifest) pieces = checkpoint_.manifest->files[file].pieces;
  checkpoint_.files.push_back({names_[file],
                               std::make_unique<FileOnDemand>(storage_, path, header.bytes),
                               std::move(pieces)});
}

void CheckpointOpening::add(ToldPart const& part, Told& told, std::string const& path) {
  SavedTensor& tensor = tensor_of(part, told, path);
  if (!checkpoint_.manifest) grow(tensor, part, path);
  if (part.shape.size() != tensor.shape.size())
    refuse_damaged("tensor ", tensor.key, ": the part in ", path, " (", text_of_shape(part.shape),
                   " at ", text_of_shape(part.offsets), ") lies outside the whole ",
                   text_of_shape(tensor.shape));
  tensor.boxes.add({.file = static_cast<int>(checkpoint_.files.size()),
                    .offsets = part.offsets,
                    .shape = part.shape,
                    .begin = part.begin});
}

SavedTensor& CheckpointOpening::tensor_of(ToldPart const& part, Told& told,
                                          std::string const& path) {
  if (part.number < listed_.size()) return *listed_[part.number];
  if (!part.name) return *told.tensors[part.number - listed_.size()];
  auto const& [key, dtype] = *part.name;
  auto known = checkpoint_.tensors.find(key);
  if (known == checkpoint_.tensors.end()) {
    if (checkpoint_.manifest)
      refuse_damaged(path, ": tensor ", key, ": the manifest does not list it");
    known = checkpoint_.tensors.emplace(key, SavedTensor{key, dtype, whole_of(part)}).first;
  }
  if (dtype != known->second.dtype)
    refuse_damaged(path, ": tensor ", key, ": is stored as ", dtype, ", elsewhere as ",
                   known->second.dtype);
  told.tensors.push_back(&known->second);
  return known->second;
}

std::string CheckpointOpening::path_of(std::string const& name) const {
  return join_path(checkpoint_.directory, name);
}

void CheckpointOpening::check() const {
  std::vector<std::string> paths;
  for (OpenFile const& file : checkpoint_.files) paths.push_back(path_of(file.name));
  for (auto const& [key, tensor] : checkpoint_.tensors) check_cover(tensor, paths);
}

Checkpoint open_checkpoint(Storage& storage, std::string const& directory) {
  CheckpointOpening opening(storage, directory);
  std::vector<Message> said(1);
  opening.read_headers(0, 1, said.front());
  return std::move(opening).finish(std::move(said));
}

}  // namespace adamant::real
