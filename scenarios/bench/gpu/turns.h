// Contenders that take turns on a device, round after round, and a copy among them: what each
// reaches is a part of what the copy reached in the same round.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenarios/bench/gpu/device.h"
#include "scenarios/bench/suite.h"

namespace adamant::scenarios {

struct Contender {
  std::string name;
  double bytes = 0;                      // that it has to move, read and written
  std::function<void()> enqueue;         // on the device's stream
  std::function<void()> before = [] {};  // not timed
};

class Turns {
 public:
  /// `copy_bytes` are read, and written as often.
  Turns(std::string suite, int rounds, std::size_t copy_bytes);

  Device& device() { return device_; }
  /// Measures, and keeps rows of each.
  void take(std::vector<Contender> const& contenders);
  /// The row of what is not measured, because its results are wrong.
  void note_wrong(std::string const& name, std::int64_t bytes);
  /// All rows, the main one first: that of the first contender, under the suite's name.
  std::vector<Row> rows() const;

 private:
  double copy_rate();
  void add(std::string const& name, std::vector<double> const& parts,
           std::vector<double> const& times);

  std::string suite_;
  int rounds_;
  Device copied_;  // its memory stays
  Device device_;
  std::size_t copy_bytes_;
  std::byte* from_;
  std::byte* to_;
  Stopwatch watch_;
  std::vector<double> copy_rates_;  // bytes a millisecond
  std::vector<Row> rows_;
};

}  // namespace adamant::scenarios
