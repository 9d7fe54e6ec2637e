#include "sim/world/choices.h"

#include <algorithm>

#include "sim/world/assert.h"

namespace adamant::sim {

void Choices::reset(Schedule const& schedule) {
  strategy_ = schedule.strategy;
  prng_ = Prng(mix64(schedule.seed ^ 0x5C4ED01EULL));
  replay_.clear();
  if (schedule.choices) replay_ = *schedule.choices;
  position_ = 0;
  record_.clear();
  step_ = 0;
  lowest_ = 0;
  change_points_.clear();
  if (strategy_ != Strategy::pct) return;
  // The length of the run is not known before it; a scale drawn for each run covers short and long
  // ones alike.
  std::uint32_t const scale = 1U << (4 + prng_.below(9));
  for (int i = 1; i < schedule.depth; ++i) change_points_.push_back(prng_.below(scale));
  std::sort(change_points_.begin(), change_points_.end());
}

std::uint32_t Choices::note(std::uint32_t answer) {
  record_.push_back(answer);
  return answer;
}

std::uint32_t Choices::pick(std::uint32_t count) {
  ADAMANT_SIM_ASSERT(count >= 1);
  if (count == 1) return 0;
  if (replaying()) return note(replay_[position_++] % count);
  return note(strategy_ == Strategy::fifo ? 0 : prng_.below(count));
}

std::uint32_t Choices::pick_agent(std::span<Candidate* const> agents) {
  ADAMANT_SIM_ASSERT(!agents.empty());
  auto const count = static_cast<std::uint32_t>(agents.size());
  if (count == 1) return 0;
  if (replaying()) return note(replay_[position_++] % count);
  switch (strategy_) {
    case Strategy::fifo:
      return note(0);
    case Strategy::random:
      return note(prng_.below(count));
    case Strategy::pct:
      return note(pick_by_priority(agents));
  }
  return 0;
}

std::uint32_t Choices::pick_by_priority(std::span<Candidate* const> agents) {
  std::uint32_t best = 0;
  for (std::uint32_t i = 0; i < agents.size(); ++i) {
    if (!agents[i]->has_priority) {
      *agents[i] = {.priority = static_cast<std::int64_t>(prng_.next() >> 2) + 1,
                    .has_priority = true};
    }
    if (agents[i]->priority > agents[best]->priority) best = i;
  }
  // A change point takes the agent that would go on now and puts it behind all others.
  auto const due = std::find(change_points_.begin(), change_points_.end(), step_++);
  if (due == change_points_.end()) return best;
  agents[best]->priority = --lowest_;
  change_points_.erase(due);
  return pick_by_priority(agents);
}

void Choices::yielded(Candidate& agent) {
  if (strategy_ == Strategy::pct) agent = {.priority = --lowest_, .has_priority = true};
}

}  // namespace adamant::sim
