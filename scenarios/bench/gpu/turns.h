// Contenders that take turns on a device, round after round, and a copy among them: what each
// reaches is a part of what the copy reached in the same round.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/bench/gpu/device.h"
#include "scenarios/bench/gpu/measures.h"

namespace adamant::scenarios {

struct Contender {
  std::string name;
  double bytes = 0;                      // that it has to move, read and written
  std::function<void()> enqueue;         // on the device's stream
  std::function<void()> before = [] {};  // not timed
};

class Turns {
 public:
  /// REQUIRES: the rows outlive it.
  Turns(SuiteRows& rows, GpuSizes const& sizes);

  Device& device() { return device_; }
  /// Measures, and adds rows of each.
  void take(std::vector<Contender> const& contenders);
  /// The row of what is not measured, because its results are wrong.
  void note_wrong(std::string const& name, std::int64_t bytes);
  /// What was first becomes the main row; the copy's is the last.
  void finish();

 private:
  double copy_rate();

  SuiteRows& rows_;
  int rounds_;
  Device copied_;  // its memory stays
  Device device_;
  std::size_t copy_bytes_;
  std::byte* from_;
  std::byte* to_;
  Stopwatch watch_;
  std::vector<double> copy_rates_;  // bytes a millisecond
};

}  // namespace adamant::scenarios
