// Readers of what comes from outside, as functions of bytes: a fuzzer calls them with anything, a
// test with the inputs that once failed and with those that it begins from. Each returns where the
// input is read, or refused by a reader of ours, and throws where engine and judge disagree.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace adamant::properties {

using Bytes = std::span<std::byte const>;

/// A safetensors file: what the engine takes, the judge takes, with the same tensors at the same
/// places.
void read_header(Bytes file);

/// The body of a manifest, given the checksum that it needs: what the engine takes is the same once
/// it is written again.
void read_manifest(Bytes body);

/// Headers of files and the body of a manifest, each behind a line `---` but the first, of which a
/// folder is made with right sizes and checksums: the program loads it as the judge reads it, or
/// refuses it by name.
void load_folder(Bytes parts);

struct Reader {
  std::string_view name;  // also of the folder of its seeds
  void (*read)(Bytes);
};

inline constexpr std::array<Reader, 3> readers = {
    {{"header", read_header}, {"manifest", read_manifest}, {"folder", load_folder}}};

}  // namespace adamant::properties
