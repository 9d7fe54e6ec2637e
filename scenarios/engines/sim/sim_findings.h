// What the worlds of a run found, as a scenario's violations: what several worlds show alike is one
// of them.
#pragma once

#include <vector>

#include "scenarios/seam/violation.h"
#include "sim/sim.h"

namespace adamant::scenarios {

class SimFindings {
 public:
  /// Adds those of the next world. `harness`: what was found besides the world's own, by number;
  /// `first_event`: where the world's trace begins on the run's timeline.
  void add(sim::Report const& report, std::vector<Violation> const& harness, int first_event);

  std::vector<Violation> violations() const { return told(violations_); }
  std::vector<Violation> warnings() const { return told(warnings_); }

 private:
  std::vector<int> numbers_of(std::vector<Violation> const& harness);
  std::vector<Violation> told(std::vector<sim::Violation> const& found) const;

  std::vector<sim::Violation> violations_;
  std::vector<sim::Violation> warnings_;
  std::vector<Violation> harness_;  // of all worlds, each once
};

}  // namespace adamant::scenarios
