// The runner's assertion: on in every build, for mistakes of ours only. What an engine or the disk
// refuses is an exception or an outcome.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace adamant::scenarios {

[[noreturn]] inline void fail_assertion(char const* condition, char const* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace adamant::scenarios

#define ADAMANT_RUN_ASSERT(condition) \
  ((condition) ? void() : ::adamant::scenarios::fail_assertion(#condition, __FILE__, __LINE__))
