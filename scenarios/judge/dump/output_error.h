// An output that cannot be written: what was tried, on which path, and why the system refused.
#pragma once

#include <stdexcept>

namespace adamant::scenarios {

class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace adamant::scenarios
