// The shapes in which C++ code touches memory and that compilers turn into something else than one
// load or store: each must be reported all the same.
#pragma once

#include <cstddef>
#include <span>

namespace adamant::sim {

struct AccessForm {
  char const* name;
  /// Writes `bytes` (64) bytes to `to`, and reads as many of `from` if `reads`.
  void (*touch)(char* to, char const* from, std::size_t bytes);
  bool reads;
};

}  // namespace adamant::sim
