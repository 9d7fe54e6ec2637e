// Assertions of the simulator: always on, in every build. A failed one is a defect of the simulator
// itself, never of the program under test.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace adamant::sim {

[[noreturn]] inline void assertion_failed(char const* text, char const* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed in the simulator: %s\n", file, line, text);
  std::abort();
}

}  // namespace adamant::sim

#define ADAMANT_SIM_ASSERT(condition) \
  ((condition) ? void() : ::adamant::sim::assertion_failed(#condition, __FILE__, __LINE__))
