// The engine's own tests on an engine with mutants, of which one is selected:
//
//   adamant-mutants-tests ID [GoogleTest's options]
//
// Without an id ("") none is selected, and all tests must pass.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>

#include "scenarios/bugs/selection.h"

namespace {

// A mistake in a loop may take forever, and a mistake in a wait may sleep forever.
constexpr rlim_t processor_seconds_max = 60;
constexpr unsigned seconds_max = 600;

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: adamant-mutants-tests ID [GoogleTest's options]\n";
    return 2;
  }
  adamant::bugs::Selection const selection(argv[1]);
  testing::InitGoogleTest(&argc, argv);
  rlimit const limit = {.rlim_cur = processor_seconds_max, .rlim_max = RLIM_INFINITY};
  static_cast<void>(::setrlimit(RLIMIT_CPU, &limit));
  static_cast<void>(::alarm(seconds_max));
  return RUN_ALL_TESTS();
}
