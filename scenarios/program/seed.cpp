#include "scenarios/program/seed.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "scenarios/program/outputs.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

std::uint64_t draw_seed() {
  std::uint32_t seed = 0;
  // Up to 256 bytes are never cut short once the system has started.
  ADAMANT_RUN_ASSERT(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

std::uint64_t seed_of(Arguments const& arguments) {
  return arguments.seed ? *arguments.seed : draw_seed();
}

void say_seed(Arguments const& arguments, std::uint64_t seed) {
  print(arguments, fmt::format("seed {}{}\n", seed, arguments.seed ? "" : " (drawn)"));
}

std::uint64_t draw_and_say_seed(Arguments const& arguments) {
  std::uint64_t const seed = draw_seed();
  if (arguments.verbosity != Verbosity::quiet) say_seed(arguments, seed);
  return seed;
}

}  // namespace adamant::scenarios
