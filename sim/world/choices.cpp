#include "sim/world/choices.h"

#include "sim/world/assert.h"

namespace adamant::sim {

void Choices::reset(ScheduleOptions const& schedule) {
  answers_ = make_answers(schedule);
  replay_.clear();
  if (schedule.choices) replay_ = *schedule.choices;
  position_ = 0;
  record_.clear();
  steps_ = 0;
  marks_.reset();
}

std::uint32_t Choices::note(std::uint32_t answer) {
  record_.push_back(answer);
  return answer;
}

std::uint32_t Choices::pick(std::uint32_t count) {
  ADAMANT_SIM_ASSERT(count >= 1);
  if (count == 1) return 0;
  return note(replaying() ? replayed(count) : answers_->outcome(count));
}

std::uint32_t Choices::pick_agent(std::span<Candidate* const> agents) {
  ADAMANT_SIM_ASSERT(!agents.empty());
  auto const count = static_cast<std::uint32_t>(agents.size());
  if (count == 1) return 0;
  ++steps_;
  return note(replaying() ? replayed(count) : answers_->agent(agents));
}

}  // namespace adamant::sim
