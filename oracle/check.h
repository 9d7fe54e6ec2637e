// The oracle's assertion: on in every build, because an oracle that goes on after a broken
// precondition gives wrong answers that look right. It reports mistakes in this project's code
// only; bad input from users never reaches the oracle.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace adamant::oracle {

/// Aborts with place and reason unless `holds`.
inline void check(bool holds, char const* what, char const* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: oracle: %s\n", file, line, what);
  std::abort();
}

}  // namespace adamant::oracle
