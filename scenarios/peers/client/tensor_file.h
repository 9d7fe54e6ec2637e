// Reads a safetensors file that somebody else wrote, and believes nothing that it says before it
// has been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "oracle/types.h"

namespace adamant::scenarios {

struct TensorFromFile {
  NumberFormat format = NumberFormat::fp32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // row-major, little-endian, aligned for any number
};

/// Of a tensor in fp32.
std::vector<float> numbers_in(TensorFromFile const& tensor);

using TensorFile = std::map<std::string, TensorFromFile>;

/// More than any scenario's tensors need whose files are read as a whole.
inline constexpr std::uint64_t tensor_file_bytes_max = std::uint64_t{3} << 30;

/// All tensors of a file, in F32, BF16, F16, and U8, which are codes of 8 bits. A file of more than
/// `bytes_max`, or of more than its tensors, is refused before it is read, and so is what is no
/// file but a pipe or a device.
///
/// Errors: PeerError with the path, what was expected there and what was found.
TensorFile read_tensor_file(std::filesystem::path const& path,
                            std::uint64_t bytes_max = tensor_file_bytes_max);

}  // namespace adamant::scenarios
