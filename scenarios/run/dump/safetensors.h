// Writes one safetensors file: an 8-byte little-endian length, a JSON header of that length (padded
// with spaces to a multiple of 8) that gives each tensor's type, shape and place, then the tensors
// one after the other. Only fp32; the machine is little-endian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace adamant::scenarios {

/// A tensor whose parts, in order, make up its elements.
struct TensorToWrite {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::span<float const>> parts;
};

/// Texts that a file carries beside its tensors, by name.
using Metadata = std::map<std::string, std::string>;

/// Errors: OutputError; what was written of the file is then removed.
void write_safetensors(std::filesystem::path const& path, std::vector<TensorToWrite> const& tensors,
                       Metadata const& metadata = {});

}  // namespace adamant::scenarios
