// What the shard files of a checkpoint cannot say: which files belong to it and what their bytes
// are, how large tensors are as a whole, how far training had come. Written last, so that a
// checkpoint without it was never finished; its own checksum covers every byte of its body.
//
//   adamant.json := {"crc32c":"0123abcd","body":{ ... }}\n      the checksum is that of the body
//
// Unknown members of the body are passed over; a larger `version` is refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/types.h"

namespace adamant::real {

inline constexpr char manifest_name[] = "adamant.json";

/// A parameter group as training left it.
struct SavedGroup {
  std::string name;
  AdamConfig config;
  std::int64_t step = 0;
  std::vector<std::string> parameters;

  friend bool operator==(SavedGroup const&, SavedGroup const&) = default;
};

/// Where training stands, apart from tensors.
struct Progress {
  std::vector<SavedGroup> groups;
  std::map<std::string, std::int64_t> parameter_steps;  // by name
  std::map<std::string, double> numbers;                // real/scale/saved_scaling.h

  friend bool operator==(Progress const&, Progress const&) = default;
};

struct ManifestTensor {
  std::string key;
  std::string dtype;
  std::vector<std::int64_t> shape;  // of the whole

  friend bool operator==(ManifestTensor const&, ManifestTensor const&) = default;
};

/// `pieces[k]` is the CRC-32C of bytes [k, k + 1) x piece_bytes of the file.
struct ManifestFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> pieces;

  friend bool operator==(ManifestFile const&, ManifestFile const&) = default;
};

struct Manifest {
  int world_size = 1;
  std::uint64_t piece_bytes = 0;
  Progress progress;
  std::vector<ManifestTensor> tensors;
  std::vector<ManifestFile> files;
  /// Of parameters that are saved in parts: the parts' names, in their order.
  std::map<std::string, std::vector<std::string>> parts = {};

  friend bool operator==(Manifest const&, Manifest const&) = default;
};

/// Hexadecimal, eight digits a checksum.
std::string text_of_pieces(std::vector<std::uint32_t> const& pieces);
/// REQUIRES: what text_of_pieces() wrote. Errors: std::invalid_argument.
std::vector<std::uint32_t> pieces_of_text(std::string const& text);

std::string encode(Manifest const& manifest);

/// `name` is what messages call the file. Errors: CheckpointError (damaged).
Manifest decode_manifest(std::string const& text, std::string const& name);

}  // namespace adamant::real
