// The engines that a scenario may name, which are there or not in a program.
#pragma once

#include <array>
#include <string_view>

namespace adamant::scenarios {

/// Engines by name; beside them stands exec:COMMAND.
inline constexpr std::array<std::string_view, 4> engine_names{"sim", "sim-unchecked", "cuda",
                                                              "torch"};
inline constexpr std::string_view exec_prefix = "exec:";

/// Is it one of engine_names, or a command?
constexpr bool is_engine_name(std::string_view name) {
  if (name.starts_with(exec_prefix)) return name.size() > exec_prefix.size();
  for (std::string_view const known : engine_names)
    if (name == known) return true;
  return false;
}

}  // namespace adamant::scenarios
