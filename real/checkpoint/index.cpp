#include "real/checkpoint/index.h"

#include <algorithm>
#include <set>

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
  for (ManifestFile const& file : manifest.files) listed.insert(file.name);
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

class Opening {
 public:
  Opening(Storage& storage, Checkpoint& checkpoint) : storage_(storage), checkpoint_(checkpoint) {}

  void with_manifest() {
    Manifest const& manifest = *checkpoint_.manifest;
    expect_same_files(manifest, shard_files(storage_, checkpoint_.directory),
                      checkpoint_.directory);
    for (ManifestTensor const& tensor : manifest.tensors)
      checkpoint_.tensors[tensor.key] = {tensor.key, tensor.dtype, tensor.shape, {}};
    for (ManifestFile const& file : manifest.files) open_listed(file);
  }

  void without_manifest() {
    std::vector<std::string> const names = shard_files(storage_, checkpoint_.directory);
    if (names.empty())
      refuse_damaged(checkpoint_.directory, ": holds neither ", manifest_name,
                     " nor any .safetensors file");
    for (std::string const& name : names) open_unlisted(name);
    checkpoint_.notes.push_back(
        concat(checkpoint_.directory, ": no ", manifest_name,
               ": hyper-parameters and groups stay as they are, nothing is verified by checksums"));
  }

  /// Once for all that is planned later.
  void find_all_runs() {
    for (auto& [key, tensor] : checkpoint_.tensors) find_runs(tensor);
  }

  void check() const {
    std::vector<std::string> names;
    for (OpenFile const& file : checkpoint_.files) names.push_back(path_of(file.name));
    for (auto const& [key, tensor] : checkpoint_.tensors) check_cover(tensor, names);
  }

 private:
  std::string path_of(std::string const& name) const {
    return join_path(checkpoint_.directory, name);
  }

  void open_listed(ManifestFile const& file) {
    std::string const path = path_of(file.name);
    auto content = storage_.open(path);
    if (content->size() != file.bytes)
      refuse_damaged(path, ": has ", std::to_string(content->size()), " bytes, expected ",
                     std::to_string(file.bytes));
    auto const bytes = read_header_pieces(file, checkpoint_.manifest->piece_bytes, *content, path);
    SafetensorsHeader const header = parse_header(bytes, file.bytes, path);
    for (SavedPart const& part : header.parts) {
      if (!checkpoint_.tensors.contains(part.key))
        refuse_damaged(path, ": tensor ", part.key, ": the manifest does not list it");
      add(part, path);
    }
    checkpoint_.files.push_back({file.name, std::move(content), file.pieces});
  }

  void open_unlisted(std::string const& name) {
    std::string const path = path_of(name);
    auto content = storage_.open(path);
    SafetensorsHeader const header = read_header(*content, path);
    if (header.metadata.contains(manifest_mark))
      refuse_damaged(join_path(checkpoint_.directory, manifest_name), ": is missing; ", name,
                     " was saved with one");
    for (SavedPart const& part : header.parts) {
      SavedTensor& tensor = checkpoint_.tensors[part.key];
      if (tensor.boxes.empty()) tensor = {part.key, part.dtype, whole_of(part), {}};
      grow(tensor, part, path);
      add(part, path);
    }
    checkpoint_.files.push_back({name, std::move(content), {}});
  }

  /// As far as the part says or reaches.
  static std::vector<std::int64_t> whole_of(SavedPart const& part) {
    if (!part.global_shape.empty()) return part.global_shape;
    std::vector<std::int64_t> shape = part.offsets;
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] += part.shape[d];
    return shape;
  }

  static void grow(SavedTensor& tensor, SavedPart const& part, std::string const& path) {
    std::vector<std::int64_t> const whole = whole_of(part);
    bool const said = !part.global_shape.empty();
    if (whole.size() != tensor.shape.size() || (said && whole != tensor.shape))
      refuse_damaged(path, ": tensor ", part.key, ": is a part of ", text_of_shape(whole),
                     ", in other files of ", text_of_shape(tensor.shape));
    for (std::size_t d = 0; d < whole.size(); ++d)
      tensor.shape[d] = std::max(tensor.shape[d], whole[d]);
  }

  void add(SavedPart const& part, std::string const& path) {
    SavedTensor& tensor = checkpoint_.tensors[part.key];
    if (part.dtype != tensor.dtype)
      refuse_damaged(path, ": tensor ", part.key, ": is stored as ", part.dtype, ", elsewhere as ",
                     tensor.dtype);
    tensor.boxes.push_back({.file = static_cast<int>(checkpoint_.files.size()),
                            .offsets = part.offsets,
                            .shape = part.shape,
                            .begin = part.begin});
  }

  Storage& storage_;
  Checkpoint& checkpoint_;
};

/// A directory's neighbour that no checkpoint can be called.
std::string hidden_beside(std::string const& directory, char const* suffix) {
  std::string const name = name_of_path(directory);
  return concat(directory.substr(0, directory.size() - name.size()), ".", name, suffix);
}

}  // namespace

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

Checkpoint open_checkpoint(Storage& storage, std::string const& directory) {
  Checkpoint checkpoint;
  checkpoint.directory = directory_to_load(storage, directory);
  Opening opening(storage, checkpoint);
  std::string const manifest = join_path(checkpoint.directory, manifest_name);
  if (storage.exists(manifest)) {
    checkpoint.manifest = decode_manifest(read_text(storage, manifest), manifest);
    opening.with_manifest();
  } else {
    opening.without_manifest();
  }
  opening.find_all_runs();
  opening.check();
  return checkpoint;
}

}  // namespace adamant::real
