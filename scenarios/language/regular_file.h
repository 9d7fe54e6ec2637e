// Reads a file that somebody else made or named, and never waits for it, nor takes more of it than
// there should be.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace adamant::scenarios {

/// The bytes of a file; nothing where it is no regular file but a pipe, a device or a directory,
/// where it cannot be read, and where it has more than `bytes_max`.
std::optional<std::string> read_regular_file(std::filesystem::path const& path,
                                             std::uint64_t bytes_max);

}  // namespace adamant::scenarios
