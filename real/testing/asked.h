// What the running test has asked the machine for, so that no test uses what it did not ask for: on
// a machine that lacks it, its ranks would wait for each other for ever.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "real/testing/ranks.h"

namespace adamant::real {

/// How many GPUs such a world takes.
inline int gpus_of(int ranks, Devices devices) {
  return devices == Devices::own ? ranks : 1;
}

class Asked {
 public:
  /// The test has been told that there are so many.
  void note(int gpus) { gpus_ = std::max(known(), gpus); }
  /// Empty, or why the running test may not use so many.
  std::string why_not(int gpus) {
    if (gpus <= known()) return "";
    return "this world takes " + std::to_string(gpus) + " GPUs, and the test has asked for " +
           std::to_string(known()) + ": see ADAMANT_NEEDS";
  }

 private:
  /// Of this test; what another one asked for does not count.
  int known() {
    auto const* const running = testing::UnitTest::GetInstance()->current_test_info();
    if (test_ != running) gpus_ = 0;
    test_ = running;
    return gpus_;
  }

  testing::TestInfo const* test_ = nullptr;
  int gpus_ = 0;
};

}  // namespace adamant::real
