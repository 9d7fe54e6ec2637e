// The one door for chance: whatever hardware leaves open is asked here, answered by a strategy,
// and recorded, so that the record replays the run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/sim.h"
#include "sim/world/strategies/strategy.h"

namespace adamant::sim {

class Choices {
 public:
  void reset(ScheduleOptions const& schedule);

  /// Which of `count` equally legal outcomes happens. REQUIRES: count >= 1.
  std::uint32_t pick(std::uint32_t count);

  /// Which of the agents goes on; they stand in the order in which they became able to.
  /// REQUIRES: not empty.
  std::uint32_t pick_agent(std::span<Candidate* const> agents);

  /// Which agent has just asked in vain and would ask again for ever if it alone were heard.
  void yielded(Candidate& agent) {
    mark(CoverageMark::polled_in_vain);
    answers_->yielded(agent);
  }

  /// What an answer came to, where that is worth knowing: a search counts it.
  void mark(CoverageMark mark, bool happened = true) {
    if (happened) marks_.set(static_cast<std::size_t>(mark));
  }
  CoverageMarks const& marks() const { return marks_; }

  /// All answers; none where there were too many to keep, and the schedule says them again. What it
  /// would replay is never forgotten.
  std::vector<std::uint32_t> const& record() const { return record_; }
  bool forgotten() const { return forgotten_; }
  /// Over those that were forgotten.
  std::uint64_t forgotten_digest() const { return forgotten_digest_; }
  /// How often there were several agents to choose from.
  std::uint64_t steps() const { return steps_; }

 private:
  static constexpr std::size_t kept_max = std::size_t{1} << 22;  // 16 MiB

  bool replaying() const { return position_ < replay_.size(); }
  std::uint32_t replayed(std::uint32_t count) { return replay_[position_++] % count; }
  std::uint32_t note(std::uint32_t answer);
  void forget();

  std::unique_ptr<Answers> answers_ = make_fifo();
  std::vector<std::uint32_t> replay_;
  std::size_t position_ = 0;
  std::vector<std::uint32_t> record_;
  bool forgotten_ = false;
  std::uint64_t forgotten_digest_ = 0;
  std::uint64_t steps_ = 0;
  CoverageMarks marks_;
};

}  // namespace adamant::sim
