// What any program that saves or loads a checkpoint has to do, and nothing else: the roof of the
// suite `checkpoint`. It knows no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace adamant::scenarios {

using Memory = std::vector<std::span<std::byte>>;

/// Copies pieces of 256 KiB into a host's buffer, checksums and writes them, one file for all.
///
/// Returns: all checksums folded, so that none can be left out.
/// Errors: std::runtime_error, here and below.
std::uint32_t write_roof(Memory const& memory, std::string const& path);

/// Reads the files into memory, piece after piece, and checksums it.
std::uint32_t read_roof(Memory const& memory, std::vector<std::string> const& paths);

/// The same by mapping the files and copying.
std::uint32_t map_roof(Memory const& memory, std::vector<std::string> const& paths);

/// The same through a host's buffer, as where a device's memory is out of the file system's reach.
std::uint32_t staged_roof(Memory const& memory, std::vector<std::string> const& paths);

}  // namespace adamant::scenarios
