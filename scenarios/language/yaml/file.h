// Reading a file whole, but never more of it than a scenario may have, and what its bytes may be.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace adamant::scenarios {

inline constexpr std::size_t size_max = std::size_t{8} << 20;  // bytes of a scenario file

/// The bytes of `path`, at most one more than size_max, so that too large a file shows.
/// A pipe is waited for, one with a name at most 5 s.
/// Errors: BadInput where it cannot be opened or read, with the system's reason.
std::string read_file(std::filesystem::path const& path);

/// yaml-cpp queues every token of an unfinished flow collection, at some 250 bytes each, before it
/// reports the first node: 8 MiB of "[" take 1.9 GiB. Each token needs an indicator, so a limit on
/// indicators is a limit on memory (about 0.5 GiB); 200,000 nodes in quotes need fewer than this.
inline constexpr std::size_t indicators_max = 1'000'000;

/// Throws BadInput unless `text` is valid UTF-8 of printable characters, at most size_max bytes and
/// indicators_max indicators.
void check_bytes(std::string_view text);

}  // namespace adamant::scenarios
