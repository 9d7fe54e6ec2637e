// What stands behind an option, from text to a value. It knows no option.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "scenarios/search/portion.h"

namespace adamant::scenarios {

/// Both ends are included.
struct CountRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// A number in decimal digits and nothing else, within `range`; nothing where it is not that.
std::optional<std::uint64_t> parse_count(std::string_view text, CountRange range);

/// "I/N" with I from 0 to N - 1; nothing where it is not that.
std::optional<Portion> parse_shard(std::string_view text);

/// "60s", "1m30s", "8h", "500ms" or a plain number of seconds; nothing where it is none of these.
/// Larger units stand first, each once.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace adamant::scenarios
