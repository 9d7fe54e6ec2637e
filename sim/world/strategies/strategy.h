// How open questions are answered. One implementation a file; Choices asks it, records what it
// says, and knows nothing of how it came to it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sim/sim.h"
#include "sim/world/prng.h"

namespace adamant::sim {

/// An agent as strategies see it. The agent keeps it; only a strategy reads and writes it.
struct Candidate {
  std::int64_t priority = 0;
  bool has_priority = false;
};

class Answers {
 public:
  virtual ~Answers() = default;

  /// Which of `count` equally legal outcomes happens, below `count`. REQUIRES: count >= 2.
  virtual std::uint32_t outcome(std::uint32_t count) = 0;
  /// Which of the agents goes on. REQUIRES: at least two.
  virtual std::uint32_t agent(std::span<Candidate* const> agents) = 0;
  /// That agent asked in vain and would ask again for ever if it alone were heard.
  virtual void yielded(Candidate& /*agent*/) {}
};

std::unique_ptr<Answers> make_fifo();
std::unique_ptr<Answers> make_random(Prng prng);
std::unique_ptr<Answers> make_pct(Prng prng, int depth);

/// The strategy that the schedule names, with the schedule's seed.
std::unique_ptr<Answers> make_answers(ScheduleOptions const& schedule);

}  // namespace adamant::sim
