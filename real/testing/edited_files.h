// Checkpoints as another program may have written them, by mistake or to do harm: headers, data and
// the manifest are not what the engine would write, while every checksum is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/index.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/safetensors.h"
#include "real/testing/memory_storage.h"

namespace adamant::real {

/// Puts another manifest into the place of that of checkpoint `c`.
inline void edit_manifest(MemoryStorage& storage, std::function<void(Manifest&)> const& edit) {
  std::vector<std::byte>& bytes = storage.bytes_of(std::string("c/") + manifest_name);
  Manifest manifest =
      decode_manifest({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, "m");
  edit(manifest);
  std::string const text = encode(manifest);
  auto const encoded = std::as_bytes(std::span(text));
  bytes.assign(encoded.begin(), encoded.end());
}

/// How a manifest lists a file.
inline ManifestFile listed(std::string const& name, std::span<std::byte const> bytes,
                           std::size_t piece_bytes) {
  ManifestFile file{.name = name, .bytes = bytes.size(), .pieces = {}};
  for (std::size_t begin = 0; begin < bytes.size(); begin += piece_bytes)
    file.pieces.push_back(
        crc32c(bytes.subspan(begin, std::min(piece_bytes, bytes.size() - begin))));
  return file;
}

/// A tensor of a file.
struct FileEntry {
  SavedPart part;
  std::vector<std::byte> data = {};
};
using FileEntries = std::vector<FileEntry>;

/// The entry of that key. REQUIRES: there is one.
inline FileEntry& entry_of(FileEntries& entries, std::string const& key) {
  return *std::ranges::find_if(entries,
                               [&](FileEntry const& entry) { return entry.part.key == key; });
}

inline FileEntries entries_of(MemoryStorage& storage, std::string const& path) {
  std::vector<std::byte> const& bytes = storage.bytes_of(path);
  FileEntries entries;
  for (SavedPart const& part : read_header(*storage.open(path), path).parts) {
    auto const data = std::span(bytes).subspan(part.begin, part.end - part.begin);
    entries.push_back({part, {data.begin(), data.end()}});
  }
  return entries;
}

/// Puts other tensors into a file of checkpoint `c`. Data are cut, or zeros added, to what their
/// entries say.
inline void edit_file(MemoryStorage& storage, std::string const& name,
                      std::function<void(FileEntries&)> const& edit) {
  std::string const path = "c/" + name;
  FileEntries entries = entries_of(storage, path);
  edit(entries);
  std::vector<SavedPart> parts;
  for (FileEntry const& entry : entries) parts.push_back(entry.part);
  std::vector<std::byte> bytes = encode_header(parts, {{"format", "pt"}, {"adamant", "1"}});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].data.resize(parts[i].end - parts[i].begin);
    bytes.insert(bytes.end(), entries[i].data.begin(), entries[i].data.end());
  }
  storage.bytes_of(path) = bytes;
  edit_manifest(storage, [&](Manifest& manifest) {
    for (ManifestFile& file : manifest.files)
      if (file.name == name) file = listed(name, bytes, manifest.piece_bytes);
  });
}

}  // namespace adamant::real
