// How the tests of the judge ask it: a small CUDA program in a wrong and a right form, run under
// many schedules; the wrong one must be reported under each of them, the right one under none.
//
// It does not know what the programs do.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/sim.h"

namespace adamant::sim {

/// One access that a report must name.
struct Side {
  std::string operation;
  std::string stream;
  std::string kind;
};

/// What a report must say. The sides may come in either order; both are of bytes [begin, end).
struct Expected {
  Law law = Law::order_race;
  std::vector<Side> sides;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int ranks = 1;
};

/// Runs `program(right)` as every rank: fifo, random and pct, many seeds. Each wrong run must
/// report what is expected, twice the same when its choices are replayed; each right run nothing at
/// all.
void judge(std::function<void(bool right)> const& program, Expected const& expected);

/// One schedule of the strategy `random`.
Options random_options(std::uint64_t seed);

/// The line of a test's source that ends with `// <- mark`; 0 and a failure where there is none.
int marked_line(std::string const& file, std::string const& mark);

/// The tests of the judge have nothing to see where no access is reported.
class Judge : public testing::Test {
 protected:
  void SetUp() override {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
    GTEST_SKIP() << "the sanitizers exclude the instrumentation";
#endif
  }
};

}  // namespace adamant::sim
