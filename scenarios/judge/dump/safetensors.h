// Writes one safetensors file: an 8-byte little-endian length, a JSON header of that length (padded
// with spaces to a multiple of 8) that gives each tensor's type, shape and place, then the tensors
// one after the other, each in its own format or widened to fp32. The machine is little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

/// A tensor whose parts, in order, make up its elements: numbers of the format `stored`, which go
/// to the file as `written`, the same or fp32. In fp32 those of a part are multiplied by its scale.
struct TensorToWrite {
  std::string name;
  std::vector<std::int64_t> shape;
  NumberFormat stored = NumberFormat::fp32;
  NumberFormat written = NumberFormat::fp32;
  std::vector<std::span<std::byte const>> parts = {};
  std::vector<float> scales = {};  // of each part; empty: 1
};

/// Texts that a file carries beside its tensors, by name.
using Metadata = std::map<std::string, std::string>;

/// Errors: OutputError; what was written of the file is then removed.
void write_safetensors(std::filesystem::path const& path, std::vector<TensorToWrite> const& tensors,
                       Metadata const& metadata = {});

}  // namespace adamant::scenarios
