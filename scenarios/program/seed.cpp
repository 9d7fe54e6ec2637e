#include "scenarios/program/seed.h"

#include <sys/random.h>

#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

std::uint64_t draw_seed() {
  std::uint32_t seed = 0;
  // Up to 256 bytes are never cut short once the system has started.
  ADAMANT_RUN_ASSERT(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

}  // namespace adamant::scenarios
