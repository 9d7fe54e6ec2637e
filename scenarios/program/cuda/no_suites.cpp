// The suites of a program that was linked with CUDA: none, because they measure the simulator.
#include "scenarios/program/bench/suite.h"

namespace adamant::scenarios {

std::span<Suite const> suites() {
  return {};
}

}  // namespace adamant::scenarios
