// What run() of sim/sim.h throws, before anything runs, where this process may not have the
// addresses that simulated memory is reserved at.
#pragma once

#include <stdexcept>

namespace adamant::sim {

class TooFewAddresses : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace adamant::sim
