// Which bug the woven engine has: what the switches ask that adamant_weave puts into functions.
// Included by every woven file.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace adamant::bugs {

/// What stands for a bug in a switch. Made of its id alone, so that a new bug renumbers no other.
constexpr std::uint64_t key_of(std::string_view id) {
  std::uint64_t key = 0xcbf29ce484222325ULL;  // FNV-1a
  for (char const c : id) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return key;
}

/// The key of the selected bug, or 0. Defined where no access is reported.
[[gnu::pure]] std::uint64_t selected_key() noexcept;

/// As selected_key(); what is evaluated at compile time has no bug.
constexpr std::uint64_t selected() {
  return std::is_constant_evaluated() ? 0 : selected_key();
}

}  // namespace adamant::bugs
