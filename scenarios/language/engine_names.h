// How a scenario names an engine: one that is in a program or not, an adapter by the name under
// which it is installed, or a command. Which adapters there are is not known here.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace adamant::scenarios {

/// Engines in programs of this project.
inline constexpr std::array<std::string_view, 3> engine_names{"sim", "sim-unchecked", "cuda"};
inline constexpr std::string_view exec_prefix = "exec:";

/// Is it one in another process: an adapter by name, or a command?
constexpr bool is_peer(std::string_view engine) {
  return std::ranges::find(engine_names, engine) == engine_names.end();
}

/// Is it a command, which may do anything?
constexpr bool is_command(std::string_view engine) {
  return engine.starts_with(exec_prefix);
}

/// Is it a command, or what a module's name may end with? `-` stands for `_`.
constexpr bool is_engine_name(std::string_view name) {
  if (is_command(name)) return name.size() > exec_prefix.size();
  auto const is_letter = [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace adamant::scenarios
