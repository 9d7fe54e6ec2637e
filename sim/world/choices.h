// The one door for chance: whatever hardware leaves open is asked here, answered by a strategy,
// and recorded, so that the record replays the run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/sim.h"
#include "sim/world/prng.h"

namespace adamant::sim {

/// An agent as strategies see it. The agent keeps it; only a strategy reads and writes it.
struct Candidate {
  std::int64_t priority = 0;
  bool has_priority = false;
};

class Choices {
 public:
  void reset(Schedule const& schedule);

  /// Which of `count` equally legal outcomes happens. REQUIRES: count >= 1.
  std::uint32_t pick(std::uint32_t count);

  /// Which of the agents goes on; they stand in the order in which they became able to.
  /// REQUIRES: not empty.
  std::uint32_t pick_agent(std::span<Candidate* const> agents);

  /// Which agent has just asked in vain and would ask again for ever if it alone were heard.
  void yielded(Candidate& agent);

  std::vector<std::uint32_t> const& record() const { return record_; }

 private:
  std::uint32_t note(std::uint32_t answer);
  bool replaying() const { return position_ < replay_.size(); }
  std::uint32_t pick_by_priority(std::span<Candidate* const> agents);

  Strategy strategy_ = Strategy::fifo;
  Prng prng_;
  std::vector<std::uint32_t> replay_;
  std::size_t position_ = 0;
  std::vector<std::uint32_t> record_;

  // pct: priorities above 0 are drawn, those below are handed out at change points, lower each
  // time.
  std::vector<std::uint64_t> change_points_;
  std::uint64_t step_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace adamant::sim
