// The engine's assertion: on in every build, for mistakes of ours only. What the world refuses
// (CUDA, NCCL) throws instead; see real/cuda/error.h.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace adamant::real {

[[noreturn]] inline void fail_assertion(char const* condition, char const* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace adamant::real

#define ADAMANT_REAL_ASSERT(condition) \
  ((condition) ? void() : ::adamant::real::fail_assertion(#condition, __FILE__, __LINE__))
