// What stands behind an option, from text to a value. It knows no option.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace adamant::scenarios {

/// Both ends are included.
struct CountRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// A number in decimal digits and nothing else, within `range`; nothing where it is not that.
std::optional<std::uint64_t> parse_count(std::string_view text, CountRange range);

/// One of several disjoint parts of what a call goes through.
struct Portion {
  std::uint64_t index = 0;
  std::uint64_t count = 1;

  bool holds(std::uint64_t position) const { return position % count == index; }
  /// The first position from `begin` on that it holds.
  std::uint64_t first_from(std::uint64_t begin) const {
    return begin + (index + count - begin % count) % count;
  }
  /// How many of [begin, begin + length) it holds.
  std::uint64_t count_in(std::uint64_t begin, std::uint64_t length) const {
    std::uint64_t const skipped = first_from(begin) - begin;
    return length <= skipped ? 0 : (length - skipped + count - 1) / count;
  }
};

/// "I/N" with I from 0 to N - 1; nothing where it is not that.
std::optional<Portion> parse_shard(std::string_view text);

/// "60s", "2m", "1h", "500ms" or a plain number of seconds; nothing where it is none of these.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace adamant::scenarios
