#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/manifest.h"
#include "real/checkpoint/safetensors.h"
#include "scenarios/judge/saved/files.h"
#include "scenarios/judge/saved/shard_file.h"

namespace adamant::properties {

namespace {

class MemoryFile final : public real::InputFile {
 public:
  explicit MemoryFile(Bytes bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset + into.size() > bytes_.size()) throw real::StorageError("the file ends");
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  Bytes bytes_;
};

/// Errors: std::logic_error where the judge has not the tensors that the engine has.
void compare(real::SafetensorsHeader const& header, Bytes file) {
  auto const boxes = scenarios::boxes_in(file);
  require(boxes.size() == header.parts.size(), "engine and judge count other tensors");
  std::map<std::string_view, scenarios::SavedBox const*> by_key;
  for (auto const& [key, box] : boxes) by_key.emplace(key, &box);
  for (real::SavedPart const& part : header.parts) {
    auto const found = by_key.find(part.key);
    require(found != by_key.end(), "the judge lacks the tensor " + part.key);
    require(found->second->shape == part.shape, "another shape for the judge: " + part.key);
    require(found->second->offsets == part.offsets, "another place for the judge: " + part.key);
  }
}

std::string with_checksum(Bytes body) {
  std::string text = R"({"crc32c":")";
  text.append(real::text_of_pieces({real::crc32c(body)})).append(R"(","body":)");
  text.append(reinterpret_cast<char const*>(body.data()), body.size());
  return text.append("}\n");
}

}  // namespace

bool read_header(Bytes file) {
  MemoryFile content(file);
  real::SafetensorsHeader header;
  try {
    header = real::read_header(content, "f");
  } catch (real::CheckpointError const&) {
    try {
      scenarios::boxes_in(file);
    } catch (std::exception const&) {  // of files that no engine loads it may say anything
    }
    return false;
  }
  compare(header, file);
  return true;
}

bool read_manifest(Bytes body) {
  std::string const text = with_checksum(body);
  real::Manifest manifest;
  try {
    manifest = real::decode_manifest(text, "m");
  } catch (real::CheckpointError const&) {
    return false;
  }
  require(real::decode_manifest(real::encode(manifest), "m") == manifest,
          "a manifest that is written again is another");
  scenarios::StoredFile const file{.name = real::manifest_name,
                                   .bytes = std::as_bytes(std::span(text))};
  try {
    scenarios::read_saved_files({&file, 1}, {});
  } catch (std::exception const&) {  // the engine looks at some numbers when it loads
  }
  return true;
}

}  // namespace adamant::properties
