// Asks the processor for lines that will be touched soon. It changes no value, and any address will
// do.
#pragma once

#include <cstddef>

namespace adamant::sim {

inline void prefetch(void const* first, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < bytes; at += line_bytes)
    __builtin_prefetch(static_cast<char const*>(first) + at, 1);
}

}  // namespace adamant::sim
