// What a file must be before any YAML is read: small enough, printable UTF-8, and with little
// enough markup that the parser's memory stays bounded. It knows no YAML beyond its indicator
// characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace adamant::scenarios {

inline constexpr std::size_t size_max = std::size_t{8} << 20;  // bytes of a scenario file

/// yaml-cpp queues every token of an unfinished flow collection, at some 250 bytes each, before it
/// reports the first node: 8 MiB of "[" take 1.9 GiB. Each token needs an indicator, so a limit on
/// indicators is a limit on memory (about 0.5 GiB); 200,000 nodes in quotes need fewer than this.
inline constexpr std::size_t indicators_max = 1'000'000;

/// Throws BadInput unless `text` is valid UTF-8 of printable characters, at most size_max bytes and
/// indicators_max indicators.
void check_bytes(std::string_view text);

}  // namespace adamant::scenarios
