// Why there is no script for a scenario.
#pragma once

#include <stdexcept>

namespace adamant::scenarios {

/// A scenario or a violation that no stand-alone script can show; what() says why, and what to do.
class NoScript : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace adamant::scenarios
