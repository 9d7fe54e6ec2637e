// Reading a file whole, but never more of it than a scenario may have.
#pragma once

#include <filesystem>
#include <string>

namespace adamant::scenarios {

/// The bytes of `path`, at most one more than size_max (bytes.h), so that too large a file shows.
/// A pipe is waited for, one with a name at most 5 s.
/// Errors: BadInput where it cannot be opened or read, with the system's reason.
std::string read_file(std::filesystem::path const& path);

}  // namespace adamant::scenarios
